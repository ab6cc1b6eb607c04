#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""AllReduce by MPI on all rings of a plan at once, beside one on the first ring alone.

    toctl job ranks plan.json -o hosts
    toctl job ranks plan.json --format json -o ranks.json
    env=$(toctl job env plan.json --for openmpi) && env $env \\
        mpirun --hostfile hosts -n 12 ring_allreduce.py ranks.json

Prints seconds per AllReduce; a wrong sum ends it with status 1.
"""

import argparse
import threading

import numpy
from mpi4py import MPI

from topoopt_rings import Rings

parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
parser.add_argument("ranks", help="what toctl job ranks --format json printed")
parser.add_argument("--bytes", type=int, default=64 << 20, help="of the buffer; default: 64 MiB")
parser.add_argument("--times", type=int, default=1, help="AllReduces of each kind; default: 1")
parser.add_argument("--only", choices=("one", "all"), help="on one ring, or on all of them")
args = parser.parse_args()

world = MPI.COMM_WORLD
rings = Rings(args.ranks)
comms = rings.mpi(world)
n = args.bytes // 4


def allreduce(comm, data):
    comm.Allreduce(MPI.IN_PLACE, data)


def on_one(data):
    allreduce(comms[0], data)


def on_all(data):
    ends = rings.cut(len(data))
    threads = [threading.Thread(target=allreduce, args=(comm, data[begin:end]))
               for comm, begin, end in zip(comms, ends, ends[1:])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


for name, how in ("one", on_one), ("all", on_all):
    if args.only not in (None, name):
        continue
    seconds = 0
    for time in range(args.times):
        # whole numbers below 2^24: their sum is exact in any order
        buffer = (numpy.arange(n, dtype=numpy.float32) + time) % 1000 + world.rank
        world.Barrier()
        seconds -= MPI.Wtime()
        how(buffer)
        world.Barrier()
        seconds += MPI.Wtime()
        want = ((numpy.arange(n, dtype=numpy.float32) + time) % 1000 * world.size
                + world.size * (world.size - 1) / 2)
        if not numpy.array_equal(buffer, want):
            print(f"rank {world.rank}: wrong sum", flush=True)
            world.Abort(1)
    if not world.rank:
        print(f"{name}: {len(comms) if name == 'all' else 1} communicators, {args.bytes} bytes: "
              f"{seconds / args.times:.6f} s", flush=True)

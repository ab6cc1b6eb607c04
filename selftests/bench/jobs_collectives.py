#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Collectives of MPI with results checked, for jobs.sh: SIZE... of bytes."""

import sys

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size


def judge(name, count, got, want):
    wrong = world.allreduce(0 if numpy.array_equal(got, want) else 1)
    if not rank:
        print(f"{'not ok' if wrong else 'ok'} {name} of {8 * count} bytes", flush=True)


for length in map(int, sys.argv[1:]):
    count = length // 8
    base = numpy.arange(count, dtype=numpy.int64)

    data = base + rank
    world.Allreduce(MPI.IN_PLACE, data)
    judge("Allreduce", count, data, base * size + size * (size - 1) // 2)

    data = base if rank == 1 else numpy.zeros(count, dtype=numpy.int64)
    world.Bcast(data, root=1)
    judge("Bcast", count, data, base)

    # parts of the same size for every rank
    part = max(count // size, 1)
    sent = numpy.arange(part * size, dtype=numpy.int64) + rank * part * size
    data = numpy.empty(part * size, dtype=numpy.int64)
    world.Alltoall(sent, data)
    want = numpy.concatenate([numpy.arange(part) + (other * size + rank) * part for other in range(size)])
    judge("Alltoall", part * size, data, want)

    data = numpy.empty(part * size, dtype=numpy.int64)
    world.Allgather(numpy.arange(part, dtype=numpy.int64) * size + rank, data)
    want = numpy.concatenate([numpy.arange(part) * size + other for other in range(size)])
    judge("Allgather", part * size, data, want)

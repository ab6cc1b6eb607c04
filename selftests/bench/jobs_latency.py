#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Round trips between two ranks, for jobs.sh: SIZE... of bytes.

Prints a line "SIZE MICROSECONDS" each, the fastest of 200 round trips after 50 others:
where both ranks share a processor, others wait for the scheduler.
"""

import sys
import time

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD

for size in map(int, sys.argv[1:]):
    data = numpy.zeros(size, dtype=numpy.uint8)
    times = []
    for _ in range(250):
        start = time.perf_counter()
        if world.rank == 0:
            world.Send(data, 1)
            world.Recv(data, 1)
        else:
            world.Recv(data, 0)
            world.Send(data, 0)
        times.append(time.perf_counter() - start)
    if world.rank == 0:
        print(size, f"{min(times[50:]) * 1e6:.1f}", flush=True)

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Data parallel training of an MLP on synthetic data: DDP, on all rings of a plan.

    toctl job run plan.json -- mpirun -n 12 train_mlp.py

Prints loss and seconds of each step. The loss is that of one process with the same
batch: train_mlp.py alone.
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from topoopt_rings import Rings, ddp_hook, start

parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
parser.add_argument("--ranks", default=os.environ.get("TOPOOPT_RANKS"),
                    help="what toctl job ranks --format json printed; default: $TOPOOPT_RANKS, "
                    "and without it one ring in the order of the ranks")
parser.add_argument("--one", action="store_true", help="one communicator, on the first ring alone")
parser.add_argument("--batch", type=int, default=192, help="of all ranks; default: 192")
parser.add_argument("--width", type=int, default=256, help="of a layer; default: 256")
parser.add_argument("--layers", type=int, default=4, help="default: 4")
parser.add_argument("--steps", type=int, default=10, help="default: 10")
parser.add_argument("--double", action="store_true", help="64 bits, to compare losses")
args = parser.parse_args()

rings = Rings(args.ranks) if args.ranks else None
rank, size = start(rings.address if rings else None)
if args.batch % size:
    parser.error(f"--batch: expected a multiple of {size} ranks")
torch.manual_seed(1)
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64 if args.double else torch.float32)

layers = [nn.Linear(args.width, args.width) for _ in range(args.layers)]
model = nn.Sequential(*(part for layer in layers for part in (layer, nn.ReLU())),
                      nn.Linear(args.width, 1))
if size > 1:
    model = DistributedDataParallel(model)
    if rings and not args.one:
        model.register_comm_hook(rings.torch(), ddp_hook)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
teacher = torch.randn(args.width, 1)

for step in range(args.steps):
    # every rank draws the whole batch, and takes its part
    data = torch.Generator().manual_seed(step)
    x = torch.randn(args.batch, args.width, generator=data).chunk(size)[rank]
    began = time.monotonic()
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), torch.tanh(x @ teacher))
    loss.backward()
    optimizer.step()
    took = time.monotonic() - began
    total = loss.detach().clone()
    dist.all_reduce(total)
    if not rank:
        print(f"step {step} loss {total.item() / size:.12f} seconds {took:.4f}", flush=True)
dist.destroy_process_group()

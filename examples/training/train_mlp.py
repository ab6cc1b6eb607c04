#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Data parallel training of an MLP on synthetic data: DDP, on all rings of a plan.

    toctl job run plan.json -- mpirun -n 12 train_mlp.py

Prints loss and seconds of each step. The loss is that of one process with the same
batch: train_mlp.py alone.
"""

import time

import torch
import torch.distributed as dist
from torch import nn

from training import begin, data_parallel, options, tell

parser = options(__doc__, 192)
parser.add_argument("--width", type=int, default=256, help="of a layer; default: 256")
parser.add_argument("--layers", type=int, default=4, help="default: 4")
args = parser.parse_args()

rings, rank, size = begin(args)
if args.batch % size:
    parser.error(f"--batch: expected a multiple of {size} ranks")
torch.manual_seed(1)

layers = [nn.Linear(args.width, args.width) for _ in range(args.layers)]
model = nn.Sequential(*(part for layer in layers for part in (layer, nn.ReLU())),
                      nn.Linear(args.width, 1))
model = data_parallel(model, rings, args)
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
    tell(step, loss, time.monotonic() - began)
dist.destroy_process_group()

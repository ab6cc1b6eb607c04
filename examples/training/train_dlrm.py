#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A small DLRM on synthetic data: embedding tables sharded over the ranks, which exchange
rows all-to-all (MP transfers), and MLPs in every rank, whose gradients AllReduce averages
on all rings of a plan (Naumov et al., "Deep Learning Recommendation Model for
Personalization and Recommendation Systems", 2019).

    toctl job run plan.json -- mpirun -n 8 train_dlrm.py

Prints loss and seconds of each step. The loss is that of one process with the same
batch: train_dlrm.py alone.
"""

import time

import torch
import torch.distributed as dist
from torch import nn

from training import begin, data_parallel, options, tell

parser = options(__doc__, 128)
parser.add_argument("--tables", type=int, default=8, help="a multiple of the ranks; default: 8")
parser.add_argument("--rows", type=int, default=1000, help="of a table; default: 1000")
parser.add_argument("--width", type=int, default=32, help="of a row; default: 32")
args = parser.parse_args()

DENSE = 16	# features that are numbers

rings, rank, size = begin(args)
if args.batch % size or args.tables % size:
    parser.error(f"--batch and --tables: expected multiples of {size} ranks")


class Exchange(torch.autograd.Function):
    """All-to-all of equal parts, one for each rank; gradients go back the same way."""

    @staticmethod
    def exchange(parts):
        parts = parts.contiguous()
        out = torch.empty_like(parts)
        dist.all_to_all_single(out, parts)
        return out

    @staticmethod
    def forward(_, parts):
        return Exchange.exchange(parts)

    @staticmethod
    def backward(_, gradients):
        # each is of the mean over one rank's part of the batch
        return Exchange.exchange(gradients) / size


class Mlps(nn.Module):
    """What every rank has: an MLP below, products of all pairs of features, an MLP above."""

    def __init__(self):
        super().__init__()
        features = args.tables + 1
        self.pairs = torch.triu_indices(features, features, offset=1)
        self.below = nn.Sequential(nn.Linear(DENSE, 64), nn.ReLU(), nn.Linear(64, args.width), nn.ReLU())
        self.above = nn.Sequential(nn.Linear(self.pairs.shape[1] + args.width, 128), nn.ReLU(),
                                   nn.Linear(128, 1))

    def forward(self, dense, rows):
        dense = self.below(dense)
        features = torch.cat((dense.unsqueeze(1), rows), dim=1)
        products = features @ features.transpose(1, 2)
        return self.above(torch.cat((dense, products[:, self.pairs[0], self.pairs[1]]), dim=1))


# The same parameters, however many ranks there are.
torch.manual_seed(1)
model = Mlps()
each = args.tables // size
tables = []
for table in range(rank * each, (rank + 1) * each):
    torch.manual_seed(1000 + table)
    tables.append(nn.Embedding(args.rows, args.width))
model = data_parallel(model, rings, args)
optimizer = torch.optim.SGD([*model.parameters(), *(p for t in tables for p in t.parameters())], lr=0.1)

for step in range(args.steps):
    # every rank draws the whole batch: its tables need all of their indices
    data = torch.Generator().manual_seed(step)
    dense = torch.randn(args.batch, DENSE, generator=data)
    indices = torch.randint(args.rows, (args.tables, args.batch), generator=data)
    clicks = ((dense[:, 0] + indices.sum(0) % 7 / 7) > 0.4).to(dense.dtype)
    began = time.monotonic()
    optimizer.zero_grad()
    # [tables here, batch, width] -> [ranks, tables here, part of the batch, width]
    rows = torch.stack([table(indices[rank * each + i]) for i, table in enumerate(tables)])
    rows = rows.view(each, size, args.batch // size, args.width).transpose(0, 1)
    rows = Exchange.apply(rows).reshape(args.tables, args.batch // size, args.width).transpose(0, 1)
    score = model(dense.chunk(size)[rank], rows).squeeze(1)
    loss = nn.functional.binary_cross_entropy_with_logits(score, clicks.chunk(size)[rank])
    loss.backward()
    optimizer.step()
    tell(step, loss, time.monotonic() - began)
dist.destroy_process_group()

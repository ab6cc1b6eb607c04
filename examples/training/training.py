# SPDX-License-Identifier: GPL-2.0-or-later
"""What train_mlp.py and train_dlrm.py share: options, the start, DDP, a line for each step."""

import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from topoopt_rings import Rings, ddp_hook, start


def options(doc, batch):
    """A parser with the options that both have; doc: of the script, its first paragraph is told."""
    parser = argparse.ArgumentParser(description=doc.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--ranks", default=os.environ.get("TOPOOPT_RANKS"),
                        help="what toctl job ranks --format json printed; default: $TOPOOPT_RANKS, "
                        "and without it one ring in the order of the ranks")
    parser.add_argument("--one", action="store_true", help="one communicator, on the first ring alone")
    parser.add_argument("--batch", type=int, default=batch, help=f"of all ranks; default: {batch}")
    parser.add_argument("--steps", type=int, default=10, help="default: 10")
    parser.add_argument("--double", action="store_true", help="64 bits, to compare losses")
    return parser


def begin(args):
    """Join the other ranks: rings or None, rank, size."""
    rings = Rings(args.ranks) if args.ranks else None
    rank, size = start(rings.address if rings else None)
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64 if args.double else torch.float32)
    return rings, rank, size


def data_parallel(model, rings, args):
    """The model, its gradients averaged over all ranks, on all rings if there are any."""
    if dist.get_world_size() == 1:
        return model
    model = DistributedDataParallel(model)
    if rings and not args.one:
        model.register_comm_hook(rings.torch(), ddp_hook)
    return model


def tell(step, loss, took):
    """Rank 0 prints the loss over all ranks, which equals that of one process."""
    total = loss.detach().clone()
    dist.all_reduce(total)
    if not dist.get_rank():
        print(f"step {step} loss {total.item() / dist.get_world_size():.12f} seconds {took:.4f}",
              flush=True)

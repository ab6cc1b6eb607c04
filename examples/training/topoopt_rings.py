# SPDX-License-Identifier: GPL-2.0-or-later
"""AllReduce on all rings of a plan, each with its share of the bytes.

MPI, gloo and NCCL send round one ring per communicator, in the order of its ranks. So
this makes a communicator for every ring and direction in what

    toctl job ranks PLAN --format json -o ranks.json

prints, with the ranks in its order, and splits each buffer by the planned shares. Ranks
have to be started in the order of the file's servers (toctl job ranks PLAN -o hosts;
toctl job run PLAN does both, and the file is $TOPOOPT_RANKS).

    rings = Rings("ranks.json")
    comms = rings.mpi(MPI.COMM_WORLD)              # mpi4py
    groups = rings.torch()                         # torch.distributed, initialised
    model.register_comm_hook(groups, ddp_hook)     # DDP
"""

import atexit
import json
import os


class Rings:
    """Rings and directions of an AllReduce group: [(ranks in their order, share)]."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            ranks = json.load(file)
        if ranks.get("format") != "topoopt-ranks" or ranks.get("version") != 1:
            raise ValueError(f"{path}: not what toctl job ranks --format json prints")
        if not ranks["rings"]:
            raise ValueError(f"{path}: the group has no rings")
        slots = ranks["slots"]
        first = {server["name"]: i * slots for i, server in enumerate(ranks["servers"])}
        self.n = len(first) * slots
        self.address = ranks["servers"][0]["address"]
        self.rings = [([first[name] + slot for name in ring["order"] for slot in range(slots)],
                       ring["share"]) for ring in ranks["rings"]]

    def cut(self, n):
        """Where each ring's part of n elements begins, and the end: one more than rings."""
        ends, share = [0], 0
        for _, part in self.rings:
            share += part
            ends.append(min(n, round(n * share)))
        ends[-1] = n
        return ends

    def check(self, size):
        if size != self.n:
            raise ValueError(f"{size} ranks were started, the plan has {self.n}")

    def mpi(self, comm):
        """A communicator of mpi4py for each ring."""
        self.check(comm.size)
        return [comm.Split(0, order.index(comm.rank)) for order, _ in self.rings]

    def torch(self):
        """Process groups for each ring, of the default group's backend: gloo, mpi or nccl."""
        import torch.distributed as dist

        self.check(dist.get_world_size())
        backend, rank = dist.get_backend(), dist.get_rank()
        groups = []
        for number, (order, _) in enumerate(self.rings):
            # new_group() would sort the ranks
            place = order.index(rank)
            if backend == "mpi":
                groups.append(dist.ProcessGroupMPI.create(order))
                continue
            store = dist.PrefixStore(f"topoopt-ring-{number}",
                                     dist.distributed_c10d._get_default_store())
            if backend == "nccl":
                groups.append(dist.ProcessGroupNCCL(store, place, self.n))
            else:
                groups.append(dist.ProcessGroupGloo(store, place, self.n))
        return RingGroups(self, groups)


class RingGroups:
    """torch.distributed on all rings at once."""

    def __init__(self, rings, groups):
        self.rings, self.groups = rings, groups
        # gloo's threads let go of futures late, and must not do so when Python has ended
        atexit.register(self.groups.clear)

    def allreduce(self, tensor):
        """Sum a contiguous tensor over all ranks, in place; returns what to wait() for."""
        flat = tensor.view(-1)
        ends = self.rings.cut(flat.numel())
        return [group.allreduce([flat[begin:end]])
                for group, begin, end in zip(self.groups, ends, ends[1:]) if end > begin]


def ddp_hook(groups, bucket):
    """For DistributedDataParallel.register_comm_hook(): average a bucket over all rings."""
    import torch

    buffer = bucket.buffer().div_(groups.rings.n)
    works = groups.allreduce(buffer)
    return torch.futures.collect_all([work.get_future() for work in works]).then(lambda _: buffer)


def start(address=None, backend="gloo"):
    """Initialise torch.distributed under torchrun, mpirun, srun, or for one process alone.

    address: of rank 0, where the launcher does not say it."""
    import torch.distributed as dist

    for ours, others in (("RANK", ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")),
                         ("WORLD_SIZE", ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"))):
        for other in others:
            if other in os.environ:
                os.environ.setdefault(ours, os.environ[other])
    os.environ.setdefault("RANK", "0")
    os.environ.setdefault("WORLD_SIZE", "1")
    os.environ.setdefault("MASTER_ADDR", address or "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29500")
    # Debian builds PyTorch without
    os.environ.setdefault("USE_LIBUV", "0")
    dist.init_process_group(backend)
    return dist.get_rank(), dist.get_world_size()

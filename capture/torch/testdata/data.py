import collections
import random

import numpy as np
import torch
import torch.utils.data as D
from torch.utils.data import *


def t(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, str(e).split("\n")[0])


class DS(Dataset):
    def __init__(s, n):
        s.n = n

    def __len__(s):
        return s.n

    def __getitem__(s, i):
        return i


class It(IterableDataset):
    def __iter__(s):
        return iter(range(5))


for kw in (dict(batch_size=None, shuffle=True, drop_last=False), dict(batch_size=0), dict(batch_size=-1), dict(batch_size=1.5), dict(batch_size=2, batch_sampler=[[1]]), dict(sampler=[1], shuffle=True),
           dict(num_workers=-1), dict(timeout=-1), dict(timeout=3), dict(prefetch_factor=2), dict(prefetch_factor=-2, num_workers=1), dict(persistent_workers=True), dict(drop_last=True, batch_size=None),
           dict(shuffle="x"), dict(multiprocessing_context="fork")):
    t(lambda: len(DataLoader(DS(5), **kw)))
for f in (lambda: RandomSampler(DS(0)), lambda: RandomSampler(DS(3), replacement=1), lambda: RandomSampler(DS(3), num_samples=-1), lambda: DataLoader(DS(0), shuffle=True), lambda: BatchSampler(range(3), 0, False),
          lambda: BatchSampler(range(3), 2, 1), lambda: WeightedRandomSampler([1, 2], 0), lambda: WeightedRandomSampler([1, 2], 2, 1), lambda: WeightedRandomSampler(torch.ones(2, 2), 2),
          lambda: random_split(DS(5), [2, 2]), lambda: [len(x) for x in random_split(DS(10), [0.33, 0.33, 0.34])], lambda: random_split(DS(10), [0.5, 0.6]), lambda: random_split(DS(10), [1.5, -0.5]),
          lambda: TensorDataset(torch.ones(2), torch.ones(3)), lambda: ConcatDataset([]), lambda: StackDataset(DS(2), DS(3)), lambda: StackDataset(), lambda: StackDataset(DS(2), a=DS(3)),
          lambda: StackDataset(DS(2), DS(2))[1], lambda: StackDataset(a=DS(2), b=DS(2))[1], lambda: ConcatDataset([DS(2), DS(3)])[-1], lambda: ConcatDataset([DS(2), DS(3)])[-6],
          lambda: ConcatDataset([DS(2), DS(3)])[7], lambda: Dataset()[0], lambda: len(Dataset()), lambda: list(DataLoader([object()])), lambda: list(DataLoader([[1, 2], [1]], batch_size=2)),
          lambda: list(DataLoader([torch.ones(2), torch.ones(1)], batch_size=2)), lambda: default_collate([]), lambda: default_collate([np.array(["a"]), np.array(["b"])]),
          lambda: default_collate([np.float64(2), np.float64(3)]), lambda: default_collate([np.ones(2), np.zeros(2)]), lambda: default_collate([True, False]), lambda: default_collate([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]),
          lambda: default_collate([(1, 2.5), (3, 4.0)]), lambda: default_convert({"a": np.ones(2), "b": [1, np.float32(2)]}), lambda: DataLoader(It(), shuffle=True), lambda: DataLoader(It(), sampler=[1]),
          lambda: DataLoader(It(), batch_sampler=[1]), lambda: len(DataLoader(It())), lambda: list(DataLoader(It(), batch_size=2, drop_last=True)), lambda: list(It() + It()), lambda: list(ChainDataset([It(), 3]))):
    t(f)
P = collections.namedtuple("P", "x y")
t(lambda: default_collate([P(1, 2), P(3, 4)]))
for kw in (dict(shuffle=True), dict(shuffle=True, num_workers=2), dict(), dict(shuffle=True, drop_last=True), dict(shuffle=True, generator=torch.Generator().manual_seed(3))):
    torch.manual_seed(0)
    print([b.tolist() for b in DataLoader(DS(7), 3, **kw)], torch.rand(1))
torch.manual_seed(0)
print(list(RandomSampler(DS(5))), list(RandomSampler(DS(5), replacement=True, num_samples=40)), list(RandomSampler(DS(3), num_samples=8)), list(SubsetRandomSampler([5, 6, 7])), list(WeightedRandomSampler([1, 2, 3.0], 4)), torch.rand(1))


class W(Dataset):
    def __len__(s):
        return 6

    def __getitem__(s, i):
        w = get_worker_info()
        return (i, w.id, w.num_workers, w.seed % 1000, torch.initial_seed() - w.seed, torch.rand(1).item(), random.random(), np.random.rand())


torch.manual_seed(1)
for b in DataLoader(W(), 2, num_workers=2):
    print(b)


class E(DS):
    def __getitem__(s, i):
        raise KeyError(i)


class G(DS):
    def __getitems__(s, ix):
        return [x * 10 for x in ix]


class Own(IterableDataset):
    def __iter__(s):
        return iter([get_worker_info().id] * 3)


t(lambda: list(DataLoader(E(3), 2, num_workers=1)))
t(lambda: list(DataLoader(E(3), 2)))
l = DataLoader(DS(5), 2)
t(lambda: setattr(l, "batch_size", 3))
print(type(l.sampler), type(iter(l)), len(iter(l)), list(DataLoader(G(4), 2)), Subset(G(4), [1, 2]).__getitems__([0, 1]))
print(list(DistributedSampler(DS(7), 2, 0)), list(DistributedSampler(DS(7), 2, 1, shuffle=False)), get_worker_info(), list(DataLoader(Own(), 2, num_workers=2)))

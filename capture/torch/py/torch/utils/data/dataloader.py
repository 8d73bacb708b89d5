"""The loader: a data set, a sampler, and how samples become batches."""
import itertools
import warnings

import torch
from torch.utils.data import _utils
from torch.utils.data._utils.collate import default_collate, default_convert
from torch.utils.data._utils.worker import _Worker, get_worker_info
from torch.utils.data.dataset import Dataset, IterableDataset
from torch.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler


class _DatasetKind:
    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind, dataset, auto_collation, collate_fn, drop_last):
        fetcher = _utils.fetch._MapDatasetFetcher if kind == _DatasetKind.Map else _utils.fetch._IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)


class _InfiniteConstantSampler(Sampler):
    """None without end: what a stream is asked for."""

    def __iter__(self):
        return itertools.repeat(None)


class DataLoader:
    __initialized = False
    _iterator = None

    def __class_getitem__(cls, item):
        return cls

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False, pin_memory_device="", in_order=True):
        torch._C._log_api_usage_once("python.data_loader")
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError("prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None.")
        if num_workers > 0 and prefetch_factor is None:
            prefetch_factor = 2
        elif prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.dataset, self.num_workers, self.prefetch_factor, self.pin_memory, self.pin_memory_device = dataset, num_workers, prefetch_factor, pin_memory, pin_memory_device
        self.timeout, self.worker_init_fn, self.in_order = timeout, worker_init_fn, in_order
        self.multiprocessing_context = multiprocessing_context
        if isinstance(dataset, IterableDataset):
            self._dataset_kind = _DatasetKind.Iterable
            if shuffle not in (False, None):
                raise ValueError(f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}")
            if sampler is not None:
                raise ValueError(f"DataLoader with IterableDataset: expected unspecified sampler option, but got sampler={sampler}")
            if batch_sampler is not None:
                raise ValueError(f"DataLoader with IterableDataset: expected unspecified batch_sampler option, but got batch_sampler={batch_sampler}")
        else:
            shuffle = bool(shuffle)
            self._dataset_kind = _DatasetKind.Map
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _InfiniteConstantSampler()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler, self.batch_sampler, self.generator = batch_size, drop_last, sampler, batch_sampler, generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn, self.persistent_workers = collate_fn, persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called = None
        self._iterator = None

    def __setattr__(self, attr, val):
        if self.__initialized and attr in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"):
            raise ValueError(f"{attr} attribute should not be set after {self.__class__.__name__} is initialized")
        super().__setattr__(attr, val)

    @property
    def multiprocessing_context(self):
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None:
            if not self.num_workers > 0:
                raise ValueError(f"multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got num_workers={self.num_workers}")
            valid = ["fork", "spawn", "forkserver"]
            if isinstance(context, str) and context not in valid:
                raise ValueError(f"multiprocessing_context option should specify a valid start method in {valid!r}, but got multiprocessing_context={context!r}")
        self.__multiprocessing_context = context

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self):
        return _SingleProcessDataLoaderIter(self) if self.num_workers == 0 else _MultiProcessingDataLoaderIter(self)

    @torch._disable_dynamo
    def __iter__(self):
        if self.persistent_workers and self.num_workers > 0:
            if self._iterator is None:
                self._iterator = self._get_iterator()
            else:
                self._iterator._reset(self)
            return self._iterator
        return self._get_iterator()

    def __len__(self):
        if self._dataset_kind == _DatasetKind.Iterable:
            length = self._IterableDataset_len_called = len(self.dataset)
            if self.batch_size is not None:
                length = length // self.batch_size if self.drop_last else -(-length // self.batch_size)
            return length
        return len(self._index_sampler)

    def check_worker_number_rationality(self):
        """A warning about more workers than there are cores is PyTorch's; the workers here need none."""


class _BaseDataLoaderIter:
    def __init__(self, loader):
        self._loader, self._dataset, self._dataset_kind = loader, loader.dataset, loader._dataset_kind
        self._auto_collation, self._drop_last, self._collate_fn = loader._auto_collation, loader.drop_last, loader.collate_fn
        self._index_sampler, self._num_workers = loader._index_sampler, loader.num_workers
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._reset(loader)

    def _reset(self, loader):
        self._sampler_iter = iter(self._index_sampler)
        self._base_seed = torch.empty((), dtype=torch.int64).random_(generator=loader.generator).item()
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def __iter__(self):
        return self

    def _fetcher(self, dataset):
        return _DatasetKind.create_fetcher(self._dataset_kind, dataset, self._auto_collation, self._collate_fn, self._drop_last)

    def __next__(self):
        data = self._next_data()
        self._num_yielded += 1
        called = self._IterableDataset_len_called
        if self._dataset_kind == _DatasetKind.Iterable and called is not None and self._num_yielded > called:
            warnings.warn(f"Length of IterableDataset {self._dataset} was reported to be {called} (when accessing len(dataloader)), but {self._num_yielded} samples have been fetched. ")
        return data

    def __len__(self):
        return len(self._index_sampler)

    def __getstate__(self):
        raise NotImplementedError("{} cannot be pickled", self.__class__.__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        self._dataset_fetcher = self._fetcher(self._dataset)

    def _next_data(self):
        return self._dataset_fetcher.fetch(next(self._sampler_iter))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Hands indices to the workers in turn, and gives their batches in that order."""

    def _reset(self, loader):
        super()._reset(loader)
        self._workers = [_Worker(i, loader, self._base_seed, self._fetcher) for i in range(loader.num_workers)]
        self._turn = 0

    def _next_data(self):
        while self._workers:
            index = next(self._sampler_iter)
            worker = self._workers[self._turn % len(self._workers)]
            try:
                data = worker.run(index)
            except StopIteration:  # this worker's stream is at its end
                at = self._workers.index(worker)
                del self._workers[at]
                self._turn = at
                continue
            self._turn = (self._workers.index(worker) + 1) % len(self._workers)
            return data
        raise StopIteration

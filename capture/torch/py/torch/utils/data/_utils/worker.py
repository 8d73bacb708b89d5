"""Workers: they live in this process, each with a copy of the data set and random streams of its own."""
import copy
import random
import sys
import traceback

import torch

_worker_info = None


class WorkerInfo:
    """What a worker knows of itself."""

    __initialized = False

    def __init__(self, **kwargs):
        for k, v in kwargs.items():
            setattr(self, k, v)
        self.__keys = tuple(kwargs)
        self.__initialized = True

    def __setattr__(self, key, val):
        if self.__initialized:
            raise RuntimeError(f"Cannot assign attributes to {self.__class__.__name__} objects")
        super().__setattr__(key, val)

    def __repr__(self):
        return f"{self.__class__.__name__}({', '.join(f'{k}={getattr(self, k)}' for k in self.__keys)})"


def get_worker_info():
    """The worker that runs this code; None in the main program."""
    return _worker_info


class _Streams:
    """The states of all random streams that a process has."""

    def __init__(self):
        self.torch, self.python = torch.get_rng_state(), random.getstate()
        self.numpy = sys.modules["numpy"].random.get_state() if "numpy" in sys.modules else None

    def restore(self):
        torch.set_rng_state(self.torch)
        random.setstate(self.python)
        if self.numpy is not None:
            sys.modules["numpy"].random.set_state(self.numpy)


def _copied(dataset):
    try:
        return copy.copy(dataset)
    except Exception:  # what cannot be copied is shared
        return dataset


class _KeyErrorMessage(str):
    """The text of a KeyError, as it is."""

    def __repr__(self):
        return str(self)


class _Worker:
    """One worker. Its state is put in place while it does something, and put away again."""

    def __init__(self, id, loader, base_seed, make_fetcher):
        self.info = WorkerInfo(id=id, num_workers=loader.num_workers, seed=base_seed + id, dataset=_copied(loader.dataset))
        self.base_seed, self.init, self.make_fetcher = base_seed, loader.worker_init_fn, make_fetcher
        self.fetcher = self.streams = None

    def run(self, index):
        global _worker_info
        outer, before = _worker_info, _Streams()
        _worker_info = self.info
        try:
            if self.streams is None:
                self._start()
            else:
                self.streams.restore()
            return self.fetcher.fetch(index)
        except StopIteration:
            raise
        except Exception as e:
            self._reraise(e)
        finally:
            self.streams = _Streams()
            before.restore()
            _worker_info = outer

    def _start(self):
        random.seed(self.info.seed)
        torch.manual_seed(self.info.seed)
        if "numpy" in sys.modules:
            np = sys.modules["numpy"]
            np.random.seed(np.random.SeedSequence([self.info.id, self.base_seed & 0xFFFFFFFF, self.base_seed >> 32 & 0xFFFFFFFF, 0]).generate_state(4))
        if self.init is not None:
            self.init(self.info.id)
        self.fetcher = self.make_fetcher(self.info.dataset)

    def _reraise(self, e):
        lines = "".join(traceback.format_exception(type(e), e, e.__traceback__))
        text = f"Caught {type(e).__name__} in DataLoader worker process {self.info.id}.\nOriginal {lines}"
        if type(e) is KeyError:
            text = _KeyErrorMessage(text)
        try:
            error = type(e)(text)
        except Exception:  # a class that wants other arguments
            raise RuntimeError(text) from None
        raise error from None

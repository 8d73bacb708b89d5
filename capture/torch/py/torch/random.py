"""Random streams of the CPU: the default one's state, and the parts of Generator that are written in Python."""
import contextlib

import torch
from torch import default_generator


def set_rng_state(new_state):
    default_generator.set_state(new_state)


def get_rng_state():
    return default_generator.get_state()


def manual_seed(seed):
    return torch.manual_seed(seed)


def seed():
    return torch.seed()


def initial_seed():
    return default_generator.initial_seed()


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"):
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


# Methods of Generator.


def _seed(generator):
    import random

    n = random.SystemRandom().getrandbits(63)
    generator.manual_seed(n)
    return n


def _clone_state(generator):
    other = torch.Generator()
    other.set_state(generator.get_state())
    return other


def _reduce(generator):
    return torch.Generator, (generator.device,), (generator.initial_seed(), None, generator.get_state())


def _restore(generator, state):
    seed, _, bits = state
    generator.manual_seed(seed)
    generator.set_state(bits)

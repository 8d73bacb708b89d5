"""The levels of transformations that are under way, as Python sees them."""
import contextlib
import enum

import torch


class TransformType(enum.Enum):
    Torch = 0
    Vmap = 1
    Grad = 2
    Jvp = 3
    Functionalize = 4


class RandomnessType(enum.Enum):
    Error = 0
    Same = 1
    Different = 2


class FuncTorchInterpreter:
    """A level: its kind, its number, and for most kinds what it was entered with."""
    _compared = slice(1, None)  # of the state, beside the kind

    def __init__(self, state):
        self._state = state

    def level(self):
        return self._state[1]

    def key(self):
        return TransformType[self._state[0]]

    def get_state(self):
        return (self.key().name, *self._state[self._compared])

    def check_state(self, state):
        return self.get_state() == state

    def _entered_with(self):
        return self._state[2]


class VmapInterpreter(FuncTorchInterpreter):
    randomness = FuncTorchInterpreter._entered_with


class GradInterpreter(FuncTorchInterpreter):
    prev_grad_mode = FuncTorchInterpreter._entered_with


class JvpInterpreter(FuncTorchInterpreter):
    prev_fwd_grad_mode = FuncTorchInterpreter._entered_with


class FunctionalizeInterpreter(FuncTorchInterpreter):
    _compared = slice(1, 2)


_interpreters = {"Vmap": VmapInterpreter, "Grad": GradInterpreter, "Jvp": JvpInterpreter, "Functionalize": FunctionalizeInterpreter}


def coerce_cinterpreter(state):
    return _interpreters[state[0]](state)


def retrieve_all_functorch_interpreters():
    return [coerce_cinterpreter(s) for s in torch._C._functorch._levels()]


def retrieve_current_functorch_interpreter():
    interpreters = retrieve_all_functorch_interpreters()
    assert interpreters
    return interpreters[-1]


def compare_functorch_state(states):
    """Whether the levels that are under way are those that code was compiled for."""
    now = retrieve_all_functorch_interpreters()
    return len(now) == len(states) and all(i.check_state(s) for i, s in zip(now, states))


@contextlib.contextmanager
def nested(*contexts):
    entered = contextlib.ExitStack()
    with entered:
        for one in contexts:
            entered.enter_context(one)
        yield contexts


def _peek():
    interpreters = retrieve_all_functorch_interpreters()
    return interpreters[-1] if interpreters else None


def _stack():
    return retrieve_all_functorch_interpreters() or None

"""Recurrent layers as functions of all their weights: what torch.lstm, gru, rnn_tanh and rnn_relu are."""
import torch
from torch.nn import functional as F

__all__ = ["lstm", "gru", "rnn_tanh", "rnn_relu"]


def _forwards(cell, steps, state):
    """The results of all steps, and the last state of each sequence. Sequences are sorted: those that have ended are the last rows."""
    outs, ended = [], []
    for x in steps:
        n = x.size(0)
        if n < state[0].size(0):
            ended.append(tuple(s[n:] for s in state))
            state = tuple(s[:n] for s in state)
        state = cell(x, state)
        outs.append(state[0])
    if ended:
        state = tuple(torch.cat(parts) for parts in zip(state, *reversed(ended)))
    return outs, state


def _backwards(cell, steps, initial):
    """The same from the end: sequences set in where they end."""
    outs, state = [], tuple(s[:0] for s in initial)
    for x in reversed(steps):
        have, n = state[0].size(0), x.size(0)
        if n > have:
            state = tuple(torch.cat([s, first[have:n]]) for s, first in zip(state, initial)) if have else tuple(first[:n] for first in initial)
        state = cell(x, state)
        outs.append(state[0])
    return outs[::-1], state


def _layers(cell, steps, states, params, has_biases, num_layers, dropout, train, bidirectional, join):
    """All layers of a stack. A cell takes a step, a state and its weights; join makes one tensor of a layer's steps, for dropout."""
    directions = 2 if bidirectional else 1
    each = len(params) // (num_layers * directions) if num_layers else 0
    if each * num_layers * directions != len(params) or each not in ((4, 5) if has_biases else (2, 3)):
        raise RuntimeError("got an incorrect number of RNN parameters")
    finals = []
    for layer in range(num_layers):
        sides = []
        for d in range(directions):
            i = layer * directions + d
            weights = params[i * each : (i + 1) * each]
            run = _backwards if d else _forwards
            outs, final = run(lambda x, state: cell(x, state, weights), steps, tuple(s[i] for s in states))
            sides.append(outs)
            finals.append(final)
        steps = [torch.cat(parts, -1) for parts in zip(*sides)] if bidirectional else sides[0]
        if dropout and train and layer < num_layers - 1:
            whole = F.dropout(torch.cat(steps), dropout, True)
            steps = list(whole.split([x.size(0) for x in steps]))
    return (join(steps), *[torch.stack(parts) for parts in zip(*finals)])


def _lstm_cell(x, state, weights):
    projected = len(weights) in (3, 5)
    h, c = torch.lstm_cell(x, state, *(weights[:-1] if projected else weights))
    return (h @ weights[-1].t() if projected else h), c


def _of(cell):
    return lambda x, state, weights: (cell(x, state[0], *weights),)


def _run(name, cell, count, args, kwargs):
    """Both forms of a function: (input, hx, params, ..., batch_first), and (data, batch_sizes, hx, params, ...) of a packed sequence."""
    dense = ("input", "hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional", "batch_first")
    packed = ("data", "batch_sizes", "hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional")
    is_packed = "batch_sizes" in kwargs or "data" in kwargs or len(args) > 3 and not isinstance(args[3], bool)
    names = packed if is_packed else dense
    given = {**dict(zip(names, args)), **kwargs}
    if len(args) > len(names) or set(given) != set(names):
        raise TypeError(f"{name}() received an invalid combination of arguments")
    states = tuple(given["hx"]) if count == 2 else (given["hx"],)
    if count == 2 and len(states) != 2:
        raise RuntimeError("lstm expects two hidden states")
    rest = [given[k] for k in ("params", "has_biases", "num_layers", "dropout", "train", "bidirectional")]
    if is_packed:
        steps = list(given["data"].split(given["batch_sizes"].tolist()))
        return _layers(cell, steps, states, *rest, torch.cat)
    x = given["input"]
    dim = 1 if given["batch_first"] else 0
    return _layers(cell, list(x.unbind(dim)), states, *rest, lambda steps: torch.stack(steps, dim))


def lstm(*args, **kwargs):
    return _run("lstm", _lstm_cell, 2, args, kwargs)


def gru(*args, **kwargs):
    return _run("gru", _of(torch.gru_cell), 1, args, kwargs)


def rnn_tanh(*args, **kwargs):
    return _run("rnn_tanh", _of(torch.rnn_tanh_cell), 1, args, kwargs)


def rnn_relu(*args, **kwargs):
    return _run("rnn_relu", _of(torch.rnn_relu_cell), 1, args, kwargs)

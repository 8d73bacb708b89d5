"""Heap queue."""
from _whittle import native as _native


@_native
def _down(h, start, pos):
    x = h[pos]
    while pos > start:
        p = (pos - 1) >> 1
        if x < h[p]:
            h[pos] = h[p]
            pos = p
            continue
        break
    h[pos] = x


@_native
def _up(h, pos):
    end, start, x = len(h), pos, h[pos]
    c = 2 * pos + 1
    while c < end:
        r = c + 1
        if r < end and not h[c] < h[r]:
            c = r
        h[pos] = h[c]
        pos = c
        c = 2 * pos + 1
    h[pos] = x
    _down(h, start, pos)


@_native
def _list(h, what):
    if not isinstance(h, list):
        raise TypeError(f"{what} must be list, not {type(h).__name__}")


@_native
def heappush(h, x):
    _list(h, 'heappush() argument 1')
    h.append(x)
    _down(h, 0, len(h) - 1)


@_native
def heappop(h):
    _list(h, 'heappop() argument')
    if not h:
        raise IndexError('index out of range')
    last = h.pop()
    if h:
        x, h[0] = h[0], last
        _up(h, 0)
        return x
    return last


@_native
def heapreplace(h, x):
    _list(h, 'heapreplace() argument 1')
    if not h:
        raise IndexError('index out of range')
    r, h[0] = h[0], x
    _up(h, 0)
    return r


@_native
def heappushpop(h, x):
    if h and h[0] < x:
        x, h[0] = h[0], x
        _up(h, 0)
    return x


@_native
def heapify(x):
    _list(x, 'heapify() argument')
    for i in reversed(range(len(x) // 2)):
        _up(x, i)


def nlargest(n, it, key=None): return sorted(it, key=key, reverse=True)[:max(n, 0)]
def nsmallest(n, it, key=None): return sorted(it, key=key)[:max(n, 0)]


def merge(*its, key=None, reverse=False):
    """The items of sorted iterables in order, each taken when it is asked for."""
    heads = []
    for order, it in enumerate(map(iter, its)):
        for v in it:
            heads.append([v if key is None else key(v), order, v, it])
            break
    if not reverse:
        heapify(heads)
    while heads:
        best = heads[0]
        if reverse:
            for h in heads[1:]:
                if best[0] < h[0]:
                    best = h
        yield best[2]
        for v in best[3]:
            best[0], best[2] = v if key is None else key(v), v
            if not reverse:
                heapreplace(heads, best)
            break
        else:
            if reverse:
                heads.remove(best)
            else:
                heappop(heads)

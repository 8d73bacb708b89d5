"""Heap queue."""
import itertools


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


def heappush(h, x):
    h.append(x)
    _down(h, 0, len(h) - 1)


def heappop(h):
    last = h.pop()
    if h:
        x, h[0] = h[0], last
        _up(h, 0)
        return x
    return last


def heapreplace(h, x):
    r, h[0] = h[0], x
    _up(h, 0)
    return r


def heappushpop(h, x):
    if h and h[0] < x:
        x, h[0] = h[0], x
        _up(h, 0)
    return x


def heapify(x):
    for i in reversed(range(len(x) // 2)):
        _up(x, i)


def nlargest(n, it, key=None): return sorted(it, key=key, reverse=True)[:n]
def nsmallest(n, it, key=None): return sorted(it, key=key)[:n]


def merge(*its, key=None, reverse=False):
    yield from sorted(itertools.chain(*its), key=key, reverse=reverse)

def recursive_repr(fillvalue='...'):
    def d(f):
        running = set()
        def w(self):
            k = id(self)
            if k in running:
                return fillvalue
            running.add(k)
            try:
                return f(self)
            finally:
                running.discard(k)
        return w
    return d


def repr(x):
    s = __builtins__['repr'](x) if isinstance(__builtins__, dict) else __builtins__.repr(x)
    return s if len(s) < 60 else s[:28] + '...' + s[-29:]

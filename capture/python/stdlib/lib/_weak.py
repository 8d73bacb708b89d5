class ReferenceType:
    __slots__ = ('_o', '__callback__')

    def __init__(self, o, callback=None):
        self._o = o
        self.__callback__ = callback

    def __call__(self): return self._o
    def __hash__(self): return hash(self._o)
    def __eq__(self, other): return isinstance(other, ReferenceType) and (self._o is other._o or self._o == other._o)
    def __repr__(self): return "<weakref at 0x%x; to '%s' at 0x%x>" % (id(self), type(self._o).__name__, id(self._o))


ref = ReferenceType

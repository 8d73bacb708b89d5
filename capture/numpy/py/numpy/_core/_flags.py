"""What ndarray.flags gives."""


class flagsobj:
    _names = {"C_CONTIGUOUS": "c_contiguous", "C": "c_contiguous", "F_CONTIGUOUS": "f_contiguous", "F": "f_contiguous", "OWNDATA": "owndata", "O": "owndata",
              "WRITEABLE": "writeable", "W": "writeable", "ALIGNED": "aligned", "A": "aligned", "WRITEBACKIFCOPY": "writebackifcopy", "X": "writebackifcopy",
              "FNC": "fnc", "FORC": "forc", "BEHAVED": "behaved", "B": "behaved", "CARRAY": "carray", "FARRAY": "farray"}

    def __init__(self, array, c, f, own, write):
        d = self.__dict__
        d["_array"] = array
        d.update(c_contiguous=c, f_contiguous=f, contiguous=c, owndata=own, writeable=write, aligned=True, writebackifcopy=False, fnc=f and not c, forc=f or c,
                 behaved=write, carray=write and c, farray=write and f and not c, num=c * 1 + f * 2 + own * 4 + 256 + write * 1024)

    def __getitem__(self, key):
        if key not in self._names:
            raise KeyError("Unknown flag")
        return getattr(self, self._names[key])

    def __setitem__(self, key, value):
        if key not in self._names:
            raise KeyError("Unknown flag")
        setattr(self, self._names[key], value)

    def __setattr__(self, name, value):
        if name != "writeable":
            raise AttributeError(f"attribute '{name}' of 'numpy._core.multiarray.flagsobj' objects is not writable")
        self._array.setflags(write=value)
        self.__dict__["writeable"] = bool(value)

    def __repr__(self):
        names = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY")
        return "".join(f"  {n} : {self[n]}\n" for n in names)

    def __eq__(self, other):
        return isinstance(other, flagsobj) and self.num == other.num

    __hash__ = None

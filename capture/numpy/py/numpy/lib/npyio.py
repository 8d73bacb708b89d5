"""Files of arrays and of texts."""
import io
import os
import pickle
import warnings
import zipfile
from collections.abc import Mapping

from numpy._core import _multiarray_umath as mu
from numpy._core._multiarray_umath import array, asanyarray, asarray
from numpy.lib import format


def _opened(file, mode):
    return (file, False) if hasattr(file, "read" if "r" in mode else "write") else (open(os.fspath(file), mode), True)


def save(file, arr, allow_pickle=True, fix_imports=None):
    if not hasattr(file, "write"):
        file = os.fspath(file)
        if not file.endswith(".npy"):
            file += ".npy"
    f, own = _opened(file, "wb")
    try:
        format.write_array(f, asanyarray(arr), allow_pickle=allow_pickle)
    finally:
        if own:
            f.close()


def _savez(file, args, kwds, compression):
    if not hasattr(file, "write"):
        file = os.fspath(file)
        if not file.endswith(".npz"):
            file += ".npz"
    names = dict(kwds)
    for i, v in enumerate(args):
        key = f"arr_{i}"
        if key in names:
            raise ValueError(f"Cannot use un-named variables and keyword {key}")
        names[key] = v
    with zipfile.ZipFile(file, mode="w", compression=compression, allowZip64=True) as z:
        for k, v in names.items():
            b = io.BytesIO()
            format.write_array(b, asanyarray(v))
            z.writestr(k + ".npy", b.getvalue())


def savez(file, *args, allow_pickle=True, **kwds):
    _savez(file, args, kwds, zipfile.ZIP_STORED)


def savez_compressed(file, *args, allow_pickle=True, **kwds):
    _savez(file, args, kwds, zipfile.ZIP_DEFLATED)


class NpzFile(Mapping):
    def __init__(self, fid, own_fid=False, allow_pickle=False, pickle_kwargs=None, *, max_header_size=10000):
        self.zip = zipfile.ZipFile(fid)
        self.fid = fid if own_fid else None
        self.allow_pickle = allow_pickle
        self._files = self.zip.namelist()
        self.files = [n.removesuffix(".npy") for n in self._files]
        self.f = _Bag(self)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def close(self):
        if self.zip is not None:
            self.zip.close()
            self.zip = None
        if self.fid is not None:
            self.fid.close()
            self.fid = None

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, key):
        name = key if key in self._files else key + ".npy" if key in self.files else None
        if name is None:
            raise KeyError(f"{key} is not a file in the archive")
        data = self.zip.read(name)
        if data[:6] == format.MAGIC_PREFIX:
            return format.read_array(io.BytesIO(data), allow_pickle=self.allow_pickle)
        return data

    def __contains__(self, key):
        return key in self._files or key in self.files

    def __repr__(self):
        name = self.fid if isinstance(self.fid, str) else getattr(self.fid, "name", "object")
        shown = ", ".join(self.files[:5]) + ("..." if len(self.files) > 5 else "")
        return f"NpzFile {name!r} with keys: {shown}"


class _Bag:
    def __init__(self, npz):
        self._npz = npz

    def __getattr__(self, name):
        try:
            return self._npz[name]
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self):
        return list(self._npz.keys())


def load(file, mmap_mode=None, allow_pickle=False, fix_imports=True, encoding="ASCII", *, max_header_size=10000):
    f, own = _opened(file, "rb")
    start = f.read(6)
    if not start:
        raise EOFError("No data left in file")
    f.seek(-len(start), 1)
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return NpzFile(f, own, allow_pickle)
    try:
        if start == format.MAGIC_PREFIX:
            return format.read_array(f, allow_pickle=allow_pickle)
        if not allow_pickle:
            raise ValueError("Cannot load file containing pickled data when allow_pickle=False")
        try:
            return pickle.load(f)
        except Exception as e:
            raise pickle.UnpicklingError(f"Failed to interpret file {file!r} as a pickle") from e
    finally:
        if own:
            f.close()


def fromfile(file, dtype=float, count=-1, sep="", offset=0, *, like=None):
    d = mu.dtype(dtype)
    f, own = _opened(file, "rb")
    try:
        if offset:
            f.seek(offset, 1)
        if sep:
            return fromstring(f.read().decode(), d, count, sep)
        data = f.read() if count < 0 else f.read(count * d.itemsize)
        return mu.frombuffer(bytearray(data[:len(data) // d.itemsize * d.itemsize]), dtype=d)
    finally:
        if own:
            f.close()


def fromstring(string, dtype=float, count=-1, *, sep, like=None):
    if not sep:
        raise ValueError("The binary mode of fromstring is removed, use frombuffer instead")
    words = string.split(sep if sep.strip() else None)
    d = mu.dtype(dtype)
    vals = [int(w) if d.kind in "iu" else float(w) for w in words if w.strip()]
    return asarray(vals if count < 0 else vals[:count], dtype=d)


def _lines(fname, encoding):
    import gzip
    if isinstance(fname, (str, os.PathLike)):
        name = os.fspath(fname)
        with (gzip.open(name, "rt") if name.endswith(".gz") else open(name, encoding=None if encoding == "bytes" else encoding)) as f:
            return f.read().splitlines()
    return [x.decode("latin1") if isinstance(x, bytes) else x for x in fname]


def _rows(fname, comments, delimiter, skip, max_rows, encoding, skip_footer=0):
    marks = () if comments is None else (comments,) if isinstance(comments, str) else tuple(comments)
    lines = _lines(fname, encoding)[skip:]
    rows = []
    for line in lines[:len(lines) - skip_footer]:
        for m in marks:
            line = line.split(m, 1)[0]
        line = line.strip("\r\n") if delimiter else line.strip()
        if line.strip():
            rows.append([w.strip() for w in line.split(delimiter)])
        if max_rows is not None and len(rows) >= max_rows:
            break
    return rows


def loadtxt(fname, dtype=float, comments="#", delimiter=None, converters=None, skiprows=0, usecols=None, unpack=False, ndmin=0, encoding=None, max_rows=None, *, quotechar=None, like=None):
    d = mu.dtype(dtype)
    rows = _rows(fname, comments, delimiter, skiprows, max_rows, encoding)
    if not rows:
        warnings.warn(f'loadtxt: input contained no data: "{fname}"', UserWarning, stacklevel=2)
        return mu.zeros((0,) if ndmin < 2 else (0, 1), d)
    cols = None if usecols is None else [usecols] if isinstance(usecols, int) else list(usecols)
    width = len(rows[0])
    out = []
    for i, r in enumerate(rows):
        if cols is None and len(r) != width:
            raise ValueError(f"the number of columns changed from {width} to {len(r)} at row {i + 1}; use `usecols` to select a subset and avoid this error")
        at = range(len(r)) if cols is None else cols
        out.append([_read_cell(r[c], d, converters, c, i) for c in at])
    a = array(out, dtype=d)
    if ndmin == 0:
        a = a.squeeze()
    elif ndmin == 1 and 1 in a.shape:
        a = a.ravel()
    return a.T if unpack else a


def _read_cell(word, d, converters, c, row):
    f = converters if callable(converters) else (converters or {}).get(c)
    if f is not None:
        return f(word)
    try:
        if d.kind in "iu":
            return int(word)
        if d.kind == "f":
            return float(word)
        if d.kind == "c":
            return complex(word)
    except ValueError:
        raise ValueError(f"could not convert string {word!r} to {d} at row {row}, column {c + 1}.") from None
    return word


def genfromtxt(fname, dtype=float, comments="#", delimiter=None, skip_header=0, skip_footer=0, converters=None, missing_values=None, filling_values=None, usecols=None, names=None, unpack=None, max_rows=None, encoding=None, invalid_raise=True, ndmin=0, **kw):
    if names is not None:
        raise NotImplementedError("genfromtxt: names (structured arrays) are missing")
    d = None if dtype is None else mu.dtype(dtype)
    rows = _rows(fname, comments, delimiter, skip_header, max_rows, encoding, skip_footer)
    if usecols is not None:
        cols = [usecols] if isinstance(usecols, int) else list(usecols)
        rows = [[r[c] for c in cols] for r in rows]
    fill = float("nan") if filling_values is None else filling_values

    def cell(w, c):
        f = (converters or {}).get(c)
        if f is not None:
            return f(w)
        if d is not None and d.kind in "US":
            return w
        try:
            return int(w) if d is not None and d.kind in "iu" else float(w)
        except ValueError:
            return -1 if d is not None and d.kind in "iu" else fill
    a = array([[cell(w, c) for c, w in enumerate(r)] for r in rows], dtype=d)
    a = a.squeeze() if ndmin == 0 else a
    return a.T if unpack else a


def savetxt(fname, X, fmt="%.18e", delimiter=" ", newline="\n", header="", footer="", comments="# ", encoding=None):
    X = asarray(X)
    if X.ndim == 0 or X.ndim > 2:
        raise ValueError(f"Expected 1D or 2D array, got {X.ndim}D array instead")
    if X.ndim == 1:
        X = X.reshape(-1, 1)
    f = fmt if isinstance(fmt, str) and fmt.count("%") > 1 else delimiter.join(fmt if isinstance(fmt, (list, tuple)) else [fmt] * X.shape[1])
    text = comments + header.replace("\n", "\n" + comments) + newline if header else ""
    for r in X.tolist():
        text += f % tuple(r) + newline
    if footer:
        text += comments + footer.replace("\n", "\n" + comments) + newline
    if hasattr(fname, "write"):
        try:
            fname.write(text)
        except TypeError:
            fname.write(text.encode(encoding or "latin1"))
        return
    with open(os.fspath(fname), "w", encoding=encoding or "latin1") as out:
        out.write(text)

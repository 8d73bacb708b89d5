"""The .npy format: a magic, a header that is a dict of Python's, and the bytes."""
import ast
import pickle
import struct

from numpy._core import _multiarray_umath as mu
from numpy._core._multiarray_umath import asanyarray, dtype

MAGIC_PREFIX = b"\x93NUMPY"
_align = 64


def header(a):
    fortran = a.flags.fnc
    d = f"{{'descr': {a.dtype.str!r}, 'fortran_order': {fortran}, 'shape': {tuple(a.shape)!r}, }}"
    text = d.encode("latin1")
    size = len(MAGIC_PREFIX) + 2 + 2 + len(text) + 1
    text += b" " * (-size % _align) + b"\n"
    return MAGIC_PREFIX + b"\x01\x00" + struct.pack("<H", len(text)) + text


def write_array(fp, array, version=None, allow_pickle=True, pickle_kwargs=None):
    a = asanyarray(array)
    fp.write(header(a))
    if a.dtype.hasobject:
        if not allow_pickle:
            raise ValueError("Object arrays cannot be saved when allow_pickle=False")
        pickle.dump(a, fp, protocol=4)
    else:
        fp.write((a.T if a.flags.fnc else a).tobytes())


def _read(fp, n, what):
    data = fp.read(n)
    if len(data) != n:
        raise ValueError(f"EOF: reading {what}, expected {n} bytes got {len(data)}")
    return data


def read_header(fp):
    magic = _read(fp, 8, "magic string")
    if magic[:6] != MAGIC_PREFIX:
        raise ValueError(f"the magic string is not correct; expected {MAGIC_PREFIX!r}, got {magic[:6]!r}")
    wide = magic[6] > 1
    n = struct.unpack("<I" if wide else "<H", _read(fp, 4 if wide else 2, "array header length"))[0]
    text = _read(fp, n, "array header").decode("latin1" if magic[6] < 3 else "utf8")
    try:
        d = ast.literal_eval(text.strip())
        return d["shape"], d["fortran_order"], dtype(d["descr"])
    except (SyntaxError, KeyError, TypeError) as e:
        raise ValueError(f"Cannot parse header: {text!r}") from e


def read_array(fp, allow_pickle=False, pickle_kwargs=None, *, max_header_size=10000):
    shape, fortran, d = read_header(fp)
    if d.hasobject:
        if not allow_pickle:
            raise ValueError("Object arrays cannot be loaded when allow_pickle=False")
        return pickle.load(fp)
    n = 1
    for k in shape:
        n *= k
    a = mu.frombuffer(bytearray(_read(fp, n * d.itemsize, "array data")), dtype=d)
    return a.reshape(shape[::-1]).T if fortran else a.reshape(shape)

# linalg, fft, testing, files, types, and functions composed of others.
import io
import os
import pickle
import tempfile

import numpy as np
import numpy.testing as npt


def show(f):
    try:
        r = f()
        print(repr(r))
    except BaseException as e:
        print(type(e).__name__ + ":", e)


A = np.array([[4.0, 1, 2], [1, 3, 0], [2, 0, 5]])
B = np.arange(6.0).reshape(2, 3)
L = np.linalg
for f in [
    lambda: L.inv(A).round(6), lambda: L.solve(A, [1, 2, 3]).round(6), lambda: L.det(A).round(6), lambda: L.norm(A), lambda: L.norm(B, axis=1), lambda: L.norm(B, 1), lambda: L.norm(B, ord=np.inf), lambda: L.norm([3, 4]), lambda: L.norm(B, "fro", keepdims=True),
    lambda: L.eigvalsh(A).round(6), lambda: L.svd(B, compute_uv=False).round(6), lambda: [x.shape for x in L.svd(B)], lambda: [x.shape for x in L.svd(B, full_matrices=False)], lambda: L.qr(A).R.round(4).shape, lambda: L.cholesky(A).round(6), lambda: L.matrix_rank(B), lambda: L.pinv(B).round(6), lambda: L.matrix_power(np.array([[1, 1], [1, 0]]), 10),
    lambda: L.lstsq(np.vstack([np.arange(4), np.ones(4)]).T, [1, 3, 5, 7], rcond=None)[0].round(6), lambda: L.slogdet(A)[0], lambda: L.cond(A).round(5), lambda: L.eigvals(np.array([[0.0, 1], [-1, 0]])), lambda: L.inv(np.zeros((2, 2))), lambda: L.inv(np.ones((2, 3))), lambda: L.cholesky(-A), lambda: L.multi_dot([A, A, A]).shape, lambda: L.norm(A, 2).round(6), lambda: np.trace(A),
    lambda: np.fft.fft([1, 2, 3, 4]), lambda: np.fft.ifft(np.fft.fft([1.0, 2, 3])).real.round(6), lambda: np.fft.rfft([1, 2, 3, 4, 5]).round(5), lambda: np.fft.irfft([6, -2 + 2j, -2]), lambda: np.fft.fft2(np.eye(2)), lambda: np.fft.fftfreq(5, 0.1), lambda: np.fft.fftshift([1, 2, 3, 4, 5]), lambda: np.fft.rfftfreq(4), lambda: np.fft.fft([1, 2], 4, norm="ortho"), lambda: np.fft.fft([1], norm="x"),
    lambda: npt.assert_allclose([1, 2], [1, 2.1]), lambda: npt.assert_array_equal([1, 2], [1, 3]), lambda: npt.assert_equal({"a": 1}, {"a": 2}), lambda: npt.assert_almost_equal(1.0, 1.1), lambda: npt.assert_allclose([1], [1 + 1e-9]), lambda: npt.assert_array_equal([1, np.nan], [1, np.nan]), lambda: npt.assert_array_equal([1, 2], [1, 2, 3]), lambda: npt.assert_allclose([np.nan], [1.0]), lambda: npt.assert_array_less([1, 2], [2, 2]), lambda: npt.assert_raises(ValueError, int, "x"), lambda: npt.assert_array_almost_equal([1.0], [1.1], 3), lambda: npt.assert_equal(1, 2), lambda: npt.assert_equal([1, 2], [1, 2]), lambda: npt.assert_allclose(np.ones((2, 2)), np.zeros((2, 2)), err_msg="oops"),
    lambda: pickle.loads(pickle.dumps(A)), lambda: pickle.loads(pickle.dumps(np.float32(3))), lambda: pickle.loads(pickle.dumps(np.dtype("i4"))), lambda: np.frombuffer(b"\1\0\2\0", "<i2"), lambda: np.frombuffer(b"\0\1\0\2", ">i2"), lambda: np.frombuffer(b"\0\1\0\2", ">i2").astype(int), lambda: bytes(np.array([1, 2], np.uint8)), lambda: np.array(memoryview(b"abc")), lambda: np.array(bytearray(b"abc")), lambda: memoryview(np.arange(6).reshape(2, 3)).shape, lambda: np.array([1, 2], "<f4").tobytes(),
    lambda: np.array([3, 1, 2]).argsort(), lambda: np.lexsort(([1, 2, 1], [3, 3, 1])), lambda: np.unique([[1, 2], [2, 1], [1, 2]], axis=0), lambda: np.unique(["b", "a", "b"], return_inverse=True), lambda: np.intersect1d([1, 2, 3], [2, 3, 4]), lambda: np.union1d([1], [2]), lambda: np.setdiff1d([1, 2, 3], [2]), lambda: np.argpartition([3, 1, 2], 1).shape, lambda: np.count_nonzero([[1, 0], [2, 3]], axis=0), lambda: np.argwhere([[1, 0], [0, 1]]), lambda: np.flatnonzero([0, 1, 2]),
    lambda: np.std([1, 2, 3, 4], ddof=1), lambda: np.var([[1, 2], [3, 4]], axis=0), lambda: np.ptp([1, 5, 2]), lambda: np.nansum([1, np.nan]), lambda: np.nanmax([1, np.nan]), lambda: np.nanstd([1, 2, np.nan]), lambda: np.nanargmax([1, np.nan, 3]), lambda: np.cumsum([[1, 2], [3, 4]], axis=1), lambda: np.trapezoid([1, 2, 3]), lambda: np.corrcoef([1, 2, 3], [1, 2, 4]), lambda: np.digitize([0.5, 1.5], [0, 1, 2]), lambda: np.histogram2d([1, 2], [1, 2], bins=2)[0], lambda: np.polyfit([0, 1, 2], [1, 3, 7], 2).round(6), lambda: np.polyval([1, 2, 3], 2), lambda: np.roots([1, -3, 2]),
    lambda: np.linspace(0, 1, 3, retstep=True), lambda: np.logspace(0, 2, 3), lambda: np.geomspace(1, 100, 3), lambda: np.indices((2, 2)), lambda: np.tri(3), lambda: np.tril_indices(2), lambda: np.ix_([0, 1], [1, 2]), lambda: np.unravel_index(5, (2, 3)), lambda: np.ravel_multi_index(([1], [2]), (2, 3)), lambda: np.block([[np.eye(2), np.zeros((2, 1))]]), lambda: np.delete([1, 2, 3], 1), lambda: np.insert([1, 2, 3], 1, 9), lambda: np.append([1], [2]), lambda: np.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape, lambda: np.array_split(np.arange(5), 2), lambda: np.lib.stride_tricks.sliding_window_view(np.arange(4), 2), lambda: np.apply_along_axis(sum, 0, [[1, 2], [3, 4]]), lambda: np.kron([1, 2], [1, 1]), lambda: np.vander([1, 2], 3),
    lambda: np.pad([[1, 2]], ((1, 0), (0, 2)), constant_values=9), lambda: np.pad([1, 2, 3], 2, "symmetric"), lambda: np.pad([1, 2, 3], (1, 2), "edge"), lambda: np.pad([1, 2, 3], 2, "wrap"), lambda: np.pad([1, 2, 3], 1, "mean"), lambda: np.pad([1], -1), lambda: np.einsum("bij,bjk->bik", np.ones((2, 2, 3)), np.ones((2, 3, 1))).shape, lambda: np.einsum("ij->ji", B), lambda: np.einsum("...i,i", B, [1, 2, 3]), lambda: np.einsum("ij,kj", B, B), lambda: np.hanning(4), lambda: np.sinc(0.5), lambda: np.angle(1j), lambda: np.unwrap([0, 6]), lambda: np.packbits([1, 0, 1]), lambda: np.unpackbits(np.uint8([5])),
    lambda: np.array2string(np.array([1.5, 2]), precision=1, separator=","), lambda: np.array_str(A), lambda: np.format_float_positional(1.5), lambda: np.format_float_scientific(1500.0), lambda: np.base_repr(10, 3), lambda: np.binary_repr(5, 8), lambda: np.isclose(1, 1 + 1e-10), lambda: np.shape([[1, 2]]), lambda: np.ndim(3), lambda: np.size([1, 2]), lambda: np.iscomplexobj(1j), lambda: np.real([1 + 2j]), lambda: np.broadcast_shapes((2, 1), (3,)), lambda: np.broadcast_arrays([1], [1, 2]), lambda: list(np.ndindex(2, 2)), lambda: list(np.ndenumerate([1, 2])), lambda: list(np.array([[1, 2]]).flat), lambda: np.errstate(all="ignore").__enter__(), lambda: np.copysign(1, -0.0), lambda: np.hypot(3, 4), lambda: np.modf(1.5), lambda: np.frexp(8.0), lambda: np.divmod(7, 3) if hasattr(np, "divmod") else None,
    lambda: np.array([1, "x", None], dtype=object) == None, lambda: np.array([1, 2], dtype=object) + 1, lambda: np.array([1, 2], dtype=object).sum(), lambda: np.empty(2, object), lambda: np.array([[1, 2], [3, 4]], order="F").flags.f_contiguous, lambda: np.asfortranarray(B).strides, lambda: np.require(B, requirements="C").shape, lambda: B.astype("f4", copy=False).dtype, lambda: np.astype(B, int), lambda: B.view("u8").shape, lambda: B.byteswap().dtype, lambda: np.array([1, 2, 3]).view(np.ndarray),
    lambda: np.char if False else None, lambda: np.uint8(255) + np.uint8(1), lambda: np.int64(2**63 - 1) + 1, lambda: np.float32(3.4e38) * 10, lambda: np.array([1, 2]).mean(dtype=np.float32), lambda: np.int32(7).item(), lambda: np.float64("nan"), lambda: np.float32("1.5"), lambda: np.int64("12"), lambda: np.bool_([True, False]), lambda: np.float32([1, 2]), lambda: np.dtype([("a", int)]) if False else None,
]:
    show(f)

d = tempfile.mkdtemp()
np.save(d + "/x.npy", A)
print(np.load(d + "/x.npy"))
np.savez(d + "/y.npz", a=A, b=B)
with np.load(d + "/y.npz") as z:
    print(sorted(z.files), z["b"])
np.savetxt(d + "/t.txt", B, fmt="%.2f", delimiter=",")
print(open(d + "/t.txt").read(), np.loadtxt(d + "/t.txt", delimiter=","), np.genfromtxt(io.StringIO("1,2\n3,x"), delimiter=","))
b = io.BytesIO()
np.save(b, np.asfortranarray(B))
print(b.getvalue()[:60], np.load(io.BytesIO(b.getvalue())))


class Tagged(np.ndarray):
    def __new__(cls, x, tag):
        o = np.asarray(x).view(cls)
        o.tag = tag
        return o


t = Tagged([1, 2], "hi")
print(type(t).__name__, t.tag, isinstance(t, np.ndarray), type(t + 1).__name__, type(t[0]).__name__)

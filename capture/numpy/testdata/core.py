# Arrays: making, printing, indexing, arithmetic, reductions.
import numpy as np


def show(f):
    try:
        r = f()
        print(repr(r))
    except Exception as e:
        print(type(e).__name__ + ":", e)


a = np.arange(12).reshape(3, 4)
for f in [
    lambda: a, lambda: a[1], lambda: a[1, 2], lambda: a[:, 1], lambda: a[::-1, ::2], lambda: a[..., None].shape, lambda: a[[0, 2], [1, 3]],
    lambda: a[a > 5], lambda: a[:, [0, 0, 1]], lambda: a[[True, False, True]], lambda: a[1:, [1, 2]], lambda: a[np.array([[0, 1], [2, 0]])].shape,
    lambda: a[5], lambda: a[0, 0, 0], lambda: a["x"], lambda: a[1.5], lambda: a[[0.5]], lambda: a[np.ones(3)], lambda: a[np.ones(4, bool)],
    lambda: a[[7]], lambda: a[..., ...], lambda: a[-1, -1], lambda: a[[]], lambda: a[True].shape, lambda: a[None, 0].shape,
    lambda: np.array([1, 2.5, True]), lambda: np.array([1, 2, 3], dtype=np.float32), lambda: np.array([[1, 2], [3]]), lambda: np.array([]), lambda: np.array(5),
    lambda: np.array("abc"), lambda: np.array(["a", "bcd"]), lambda: np.array([b"x", b"yz"]), lambda: np.array([None, 1]), lambda: np.array([1, "a"]),
    lambda: np.array([1 + 2j, 3]), lambda: np.array([300], dtype=np.uint8), lambda: np.array([1.5, float("nan")]), lambda: np.array([1e10, 1.0]), lambda: np.array([1e-5, 1.0]),
    lambda: np.array([1.0, 2.0, 3.123456789]), lambda: np.array([0.1, 100.25, -3]), lambda: np.array([np.inf, -np.inf, 1.5]), lambda: np.array([1e300, 1e-300]),
    lambda: np.array([True, False]), lambda: np.zeros((0, 3)), lambda: np.zeros((2, 0), int), lambda: np.ones((2, 2), dtype=np.float16), lambda: np.float32(0.1), lambda: np.float32(1e10),
    lambda: np.float64(1e16), lambda: np.float64(1e-5), lambda: np.float16(0.1), lambda: np.int8(5), lambda: np.bool_(True), lambda: np.complex64(1 + 2j), lambda: np.complex128(2j), lambda: np.str_("hi"), lambda: np.bytes_(b"hi"),
    lambda: str(np.float32(0.1)), lambda: f"{np.float32(0.1):.3f} {np.int64(3):5d} {np.float64(2.5)}", lambda: np.arange(1001), lambda: np.arange(2000).reshape(2, 1000),
    lambda: np.arange(30), lambda: np.linspace(0, 1, 11), lambda: np.linspace(0, 10, 5, endpoint=False), lambda: np.arange(0, 1, 0.1), lambda: np.arange(5.0), lambda: np.arange(10, 0, -3),
    lambda: np.eye(3), lambda: np.full((2, 2), 7), lambda: np.random.RandomState(0).randn(3, 4) * 1000, lambda: np.float32([1, 2, 3]) / 3,
    lambda: np.array([1, 2, 3], np.uint8) + 300, lambda: np.array([1, 2, 3], np.uint8) + np.int64(300), lambda: np.array([1], np.int8) + 1.5, lambda: np.float32(1) + 1.5, lambda: np.float32(1) + np.float64(1),
    lambda: np.int32(5) / 2, lambda: np.int64(7) // 2, lambda: np.int64(-7) % 3, lambda: np.array([1, 2]) / 0, lambda: np.array([7, -7]) // 2, lambda: np.array([7, -7]) % 3, lambda: np.array([7.5, -7.5]) // 2,
    lambda: np.array([2, 3]) ** 2, lambda: np.array([2, 3]) ** -1, lambda: np.array([2.0, 3]) ** -1, lambda: np.array([1, 2]) + np.array([1, 2, 3]), lambda: ~np.array([True, False]), lambda: -np.array([True]), lambda: np.array([True]) - np.array([False]),
    lambda: np.array([1.5]) & 1, lambda: np.array([1, 2]) << 3, lambda: np.add([1, 2], [3, 4]), lambda: np.array([1, 2]) == [1, 3], lambda: np.array(["a"]) == "a", lambda: np.array(["a"]) + 1,
    lambda: a.sum(), lambda: a.sum(axis=0), lambda: a.sum(axis=1, keepdims=True), lambda: a.mean(), lambda: a.mean(axis=0), lambda: a.std(), lambda: a.var(axis=1), lambda: a.max(axis=0), lambda: a.argmax(), lambda: a.argmin(axis=1),
    lambda: a.prod(), lambda: a.cumsum(), lambda: a.cumsum(axis=0), lambda: np.array([], int).max(), lambda: np.array([]).sum(), lambda: a.any(), lambda: a.all(axis=0), lambda: a.sum(axis=5), lambda: a.sum(axis=(0, 1)), lambda: a.sum(axis=(0, 0)),
    lambda: np.array([1, 2], np.int8).sum(), lambda: np.array([1, 2], np.uint8).sum(), lambda: np.float32([1, 2]).sum(), lambda: np.float16([1, 2]).mean(), lambda: np.array([True, True]).sum(), lambda: np.ones(3, np.float32).mean(dtype=np.float64),
    lambda: np.add.reduce(a, axis=1), lambda: np.multiply.accumulate([1, 2, 3]), lambda: np.subtract.outer([1, 2], [3, 4]), lambda: np.add.reduceat(np.arange(8), [0, 4, 1, 5]), lambda: np.maximum.reduce([3, 1, 4]), lambda: np.subtract.reduce([10, 1, 2]),
    lambda: np.sum(a, where=a > 5), lambda: np.max(a, initial=-1, where=a < 3), lambda: np.sum([1, 2], initial=10), lambda: np.sqrt(a), lambda: np.sin(np.int8(1)), lambda: np.log(np.array([1, 2], np.int16)).dtype,
    lambda: np.add(1, 2, out=np.zeros(1)), lambda: np.add([1, 2], 1, where=[True, False], out=np.zeros(2, int)), lambda: np.add([1.5], 1, out=np.zeros(1, int)), lambda: np.isnan([1, np.nan]), lambda: np.maximum([1, np.nan], 2), lambda: np.fmax([1, np.nan], 2),
    lambda: a.T, lambda: a.reshape(2, -1), lambda: a.reshape(5, 2), lambda: a.reshape(-1, -1), lambda: a.ravel(order="F"), lambda: a.transpose(1, 0).shape, lambda: a.swapaxes(0, 1).strides, lambda: a.T.flags.f_contiguous,
    lambda: a.astype(float).dtype, lambda: a.astype("f4"), lambda: a.astype(bool), lambda: np.array([1.9, -1.9]).astype(int), lambda: np.array(["1", "2"]).astype(int), lambda: np.array([1, 2]).astype(str), lambda: a.tolist(), lambda: a.item(5), lambda: a.item(), lambda: int(np.array([3])), lambda: float(a),
    lambda: bool(a), lambda: len(np.array(3)), lambda: [x for x in np.array(3)], lambda: 5 in a, lambda: a.dtype, lambda: np.dtype("f4"), lambda: np.dtype(">i2"), lambda: np.dtype("U5"), lambda: np.dtype("nope"), lambda: np.dtype(float).name, lambda: np.float32 == np.dtype("f4"), lambda: np.dtype("f4") == "float32",
    lambda: a @ a.T, lambda: a @ a, lambda: np.dot([1, 2], [3, 4]), lambda: np.matmul(2, a), lambda: np.result_type(np.int8, np.float16), lambda: np.result_type(np.float32, 1.0), lambda: np.promote_types("i8", "f4"), lambda: np.can_cast("i8", "f4"),
    lambda: a.nope, lambda: np.float64(1).nope, lambda: a + {}, lambda: np.nope, lambda: np.float, lambda: a.flags, lambda: np.sqrt, lambda: np.add.types[:3], lambda: np.finfo(np.float32).eps, lambda: np.iinfo("i4").max, lambda: np.finfo(float), lambda: np.iinfo(int),
    lambda: np.where(a > 5), lambda: np.where(a > 5, a, 0), lambda: np.nonzero(a > 9), lambda: np.argsort([3, 1, 2]), lambda: np.sort([3, 1, np.nan, 2]), lambda: np.searchsorted([1, 3, 5], [0, 3, 9]), lambda: np.unique([3, 1, 3], return_counts=True), lambda: np.clip(a, 2, 8), lambda: np.round(2.567, 2), lambda: np.round([1.5, 2.5]),
    lambda: np.concatenate([a, a]).shape, lambda: np.concatenate([a, [1]]), lambda: np.stack([a, a]).shape, lambda: np.vstack([[1, 2], [3, 4]]), lambda: np.hstack([[1], [2, 3]]), lambda: np.split(np.arange(6), 3), lambda: np.tile([1, 2], (2, 2)), lambda: np.repeat([1, 2], 2), lambda: np.pad([1, 2], 1), lambda: np.pad([1, 2, 3], 2, mode="reflect"),
    lambda: np.expand_dims([1, 2], 0), lambda: np.squeeze([[1]]), lambda: np.broadcast_to([1, 2], (2, 2)), lambda: np.broadcast_to([1, 2], (3, 3)), lambda: np.meshgrid([1, 2], [3, 4]), lambda: np.ogrid[0:2, 0:3], lambda: np.mgrid[0:2, 0:2], lambda: np.einsum("ij,ij->i", a, a), lambda: np.einsum("ii", np.eye(3)), lambda: np.outer([1, 2], [3, 4]), lambda: np.diag([1, 2]), lambda: np.triu(np.ones((3, 3))),
    lambda: np.median([1, 2, 3, 4]), lambda: np.percentile([1, 2, 3, 4], 30), lambda: np.quantile(a, [0.1, 0.9], axis=0), lambda: np.histogram([1, 2, 1], bins=[0, 1, 2, 3]), lambda: np.bincount([0, 1, 1]), lambda: np.cov([[1, 2, 3], [4, 6, 5]]), lambda: np.interp(2.5, [1, 2, 3], [3, 2, 0]), lambda: np.diff([1, 4, 9]), lambda: np.gradient([1.0, 4, 9]), lambda: np.convolve([1, 2, 3], [0, 1, 0.5]), lambda: np.nanmean([1, np.nan, 3]), lambda: np.average([1, 2], weights=[3, 1]),
    lambda: np.allclose([1], [1 + 1e-9]), lambda: np.array_equal([1], [1]), lambda: np.isin([1, 2, 3], [2]), lambda: np.cross([1, 0, 0], [0, 1, 0]), lambda: np.tensordot(a, a, ([0, 1], [0, 1])), lambda: np.roll([1, 2, 3], 1), lambda: np.flip([1, 2]), lambda: np.rot90([[1, 2], [3, 4]]), lambda: np.take_along_axis(a, np.argsort(-a, 1), 1), lambda: np.nan_to_num([np.nan, np.inf]), lambda: np.cumprod([1, 2, 3]), lambda: np.select([a < 3, a > 8], [a, -a]), lambda: np.vectorize(lambda x: x + 1)([1, 2]),
    lambda: np.ndarray, lambda: type(a[0, 0]), lambda: isinstance(np.float64(1), float), lambda: isinstance(np.int64(1), int), lambda: np.issubdtype(np.float32, np.floating), lambda: hash(np.int64(5)), lambda: {np.int64(1): 2}[1], lambda: [10, 20][np.int64(1)], lambda: range(np.int64(2)), lambda: np.int64(2) * [1], lambda: np.float64(1) == 1, lambda: 3 - np.arange(3), lambda: round(np.float64(2.567), 1), lambda: divmod(np.int64(7), 3), lambda: abs(np.array([-1, 2])), lambda: np.array(3)[()], lambda: np.array([1, 2]).T,
]:
    show(f)

b = np.zeros((2, 3))
b[0] = [1, 2, 3]
b[:, 1] += 10
b[b > 5] = -1
b[[0, 1], [0, 2]] = 9
print(b)
try:
    b[0] = [1, 2]
except ValueError as e:
    print(e)
try:
    b[0, 0] = [1, 2]
except ValueError as e:
    print(e)
v = b[0]
v[0] = 100
print(b, v.base is b)
c = np.arange(4)
c += 1
print(c)
try:
    c += 1.5
except Exception as e:
    print(type(e).__name__, e)
np.add.at(c, [0, 0, 1], 1)
print(c)
print(np.arange(27.0).reshape(3, 3, 3))
print(np.random.RandomState(1).rand(2, 3))
np.set_printoptions(precision=3, suppress=True)
print(np.array([1.23456, 1e-10]))

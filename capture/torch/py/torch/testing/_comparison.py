"""assert_close: values compared pair by pair, after containers are taken apart.

A Pair knows two inputs that it can compare and says, by an ErrorMeta, how they differ. originate_pairs
finds, for each leaf of the inputs, the first class of pairs that takes it.
"""
import cmath
import collections.abc
import contextlib
import math

import torch

try:
    import numpy as np

    HAS_NUMPY = True
except ModuleNotFoundError:
    HAS_NUMPY = False
    np = None

_DTYPE_PRECISIONS = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
if hasattr(torch, "complex32"):
    _DTYPE_PRECISIONS[torch.complex32] = (1e-3, 1e-5)


class ErrorMeta(Exception):
    """What an AssertionError (or another error) will say, with the place in the containers where it arose."""

    def __init__(self, type, msg, *, id=()):
        super().__init__("If you are a user and see this message during normal operation please file an issue at https://github.com/pytorch/pytorch/issues.")
        self.type, self.msg, self.id = type, msg, id

    def to_error(self, msg=None):
        if not isinstance(msg, str):
            text = self.msg
            if self.id:
                text += "\n\nThe failure occurred for item " + "".join(f"[{i!r}]" for i in self.id)
            msg = msg(text) if callable(msg) else text
        return self.type(msg)


def default_tolerances(*inputs, dtype_precisions=None):
    """The widest default tolerances among the dtypes of the inputs."""
    table = dtype_precisions or _DTYPE_PRECISIONS
    found = []
    for i in inputs:
        if isinstance(i, torch.Tensor):
            i = i.dtype
        elif not isinstance(i, torch.dtype):
            raise TypeError(f"Expected a torch.Tensor or a torch.dtype, but got {type(i)} instead.")
        found.append(table.get(i, (0.0, 0.0)))
    rtols, atols = zip(*found)
    return max(rtols), max(atols)


def get_tolerances(*inputs, rtol, atol, id=()):
    """The tolerances that hold: those given, or the default ones."""
    if (rtol is None) != (atol is None):
        raise ErrorMeta(ValueError, f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {'rtol' if rtol is None else 'atol'}.", id=id)
    if rtol is not None:
        return rtol, atol
    return default_tolerances(*inputs)


def _make_mismatch_msg(*, default_identifier, identifier=None, extra=None, abs_diff, abs_diff_idx=None, atol, rel_diff, rel_diff_idx=None, rtol):
    equal = rtol == 0 and atol == 0

    def line(kind, diff, at, tolerance):
        text = f"{kind.capitalize() if at is None else f'Greatest {kind}'} difference: {diff}"
        if at is not None:
            text += f" at index {at}"
        return text if equal else text + f" (up to {tolerance} allowed)"

    if identifier is None:
        identifier = default_identifier
    elif callable(identifier):
        identifier = identifier(default_identifier)
    msg = f"{identifier} are not {'equal' if equal else 'close'}!\n\n"
    if extra:
        msg += extra.strip() + "\n"
    return (msg + line("absolute", abs_diff, abs_diff_idx, atol) + "\n" + line("relative", rel_diff, rel_diff_idx, rtol)).strip()


def make_scalar_mismatch_msg(actual, expected, *, rtol, atol, identifier=None):
    abs_diff = abs(actual - expected)
    rel_diff = float("inf") if expected == 0 else abs_diff / abs(expected)
    return _make_mismatch_msg(default_identifier="Scalars", identifier=identifier, extra=f"Expected {expected} but got {actual}.",
                              abs_diff=abs_diff, atol=atol, rel_diff=rel_diff, rtol=rtol)


def make_tensor_mismatch_msg(actual, expected, matches, *, rtol, atol, identifier=None):
    def index(flat):
        if not matches.shape:
            return ()
        found = []
        for n in reversed(matches.shape):
            flat, i = divmod(flat, n)
            found.append(i)
        return tuple(reversed(found))

    total = matches.numel()
    wrong = total - int(matches.sum().item())
    # Differences of small integers would wrap around, those of booleans are not defined.
    if not actual.dtype.is_floating_point and not actual.dtype.is_complex:
        actual, expected = actual.to(torch.int64), expected.to(torch.int64)
    a, e, same = actual.flatten(), expected.flatten(), matches.flatten()
    abs_diff = torch.abs(a - e)
    abs_diff[same] = 0
    rel_diff = abs_diff / torch.abs(e)
    rel_diff[same] = 0
    abs_at, rel_at = int(torch.argmax(abs_diff)), int(torch.argmax(rel_diff))
    return _make_mismatch_msg(default_identifier="Tensor-likes", identifier=identifier,
                              extra=f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})",
                              abs_diff=abs_diff[abs_at].item(), abs_diff_idx=index(abs_at), atol=atol,
                              rel_diff=rel_diff[rel_at].item(), rel_diff_idx=index(rel_at), rtol=rtol)


class UnsupportedInputs(Exception):
    """A class of pairs raises it for inputs that are not its own."""


class Pair:
    """Two inputs that belong together; compare() raises an ErrorMeta if they differ."""

    def __init__(self, actual, expected, *, id=(), **unknown_parameters):
        self.actual, self.expected, self.id = actual, expected, id
        self._unknown_parameters = unknown_parameters

    @staticmethod
    def _inputs_not_supported():
        raise UnsupportedInputs

    @staticmethod
    def _check_inputs_isinstance(*inputs, cls):
        if not all(isinstance(i, cls) for i in inputs):
            Pair._inputs_not_supported()

    def _fail(self, type, msg, *, id=()):
        raise ErrorMeta(type, msg, id=self.id if not id and hasattr(self, "id") else id)

    def compare(self):
        raise NotImplementedError

    def extra_repr(self):
        return []

    def __repr__(self):
        fields = ["id", "actual", "expected", *self.extra_repr()]
        lines = []
        for f in fields:
            name, value = (f, getattr(self, f)) if isinstance(f, str) else f
            lines.append(f"    {name}={value!s},")
        return "\n".join([f"{type(self).__name__}(", *lines, ")"])


class ObjectPair(Pair):
    """Anything at all, by ==."""

    def compare(self):
        try:
            equal = self.actual == self.expected
        except Exception as error:
            raise ValueError(f"{self.actual} == {self.expected} failed with:\n{error}.") from error
        if not equal:
            self._fail(AssertionError, f"{self.actual} != {self.expected}")


class NonePair(Pair):
    def __init__(self, actual, expected, **other_parameters):
        if actual is not None and expected is not None:
            self._inputs_not_supported()
        super().__init__(actual, expected, **other_parameters)

    def compare(self):
        if self.actual is not None or self.expected is not None:
            self._fail(AssertionError, f"None mismatch: {self.actual} is not {self.expected}")


class BooleanPair(Pair):
    def __init__(self, actual, expected, *, id, **other_parameters):
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, id=id, **other_parameters)

    @property
    def _supported_types(self):
        return (bool, np.bool_) if HAS_NUMPY else (bool,)

    def _process_inputs(self, actual, expected, *, id):
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return self._to_bool(actual, id=id), self._to_bool(expected, id=id)

    def _to_bool(self, bool_like, *, id):
        if isinstance(bool_like, bool):
            return bool_like
        if HAS_NUMPY and isinstance(bool_like, np.bool_):
            return bool_like.item()
        raise ErrorMeta(TypeError, f"Unknown boolean type {type(bool_like)}.", id=id)

    def compare(self):
        if self.actual is not self.expected:
            self._fail(AssertionError, f"Booleans mismatch: {self.actual} is not {self.expected}")


class NumberPair(Pair):
    """int, float and complex, with a tolerance."""

    _TYPE_TO_DTYPE = {int: torch.int64, float: torch.float64, complex: torch.complex128}
    _NUMBER_TYPES = tuple(_TYPE_TO_DTYPE)

    def __init__(self, actual, expected, *, id=(), rtol=None, atol=None, equal_nan=False, check_dtype=False, **other_parameters):
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, id=id, **other_parameters)
        self.rtol, self.atol = get_tolerances(*[self._TYPE_TO_DTYPE[type(i)] for i in (actual, expected)], rtol=rtol, atol=atol, id=id)
        self.equal_nan, self.check_dtype = equal_nan, check_dtype

    @property
    def _supported_types(self):
        return self._NUMBER_TYPES + ((np.number,) if HAS_NUMPY else ())

    def _process_inputs(self, actual, expected, *, id):
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return self._to_number(actual, id=id), self._to_number(expected, id=id)

    def _to_number(self, number_like, *, id):
        if HAS_NUMPY and isinstance(number_like, np.number):
            return number_like.item()
        if isinstance(number_like, self._NUMBER_TYPES):
            # Subclasses and bool, which is one, count as their number.
            if type(number_like) in self._TYPE_TO_DTYPE:
                return number_like
            return next(t for t in self._NUMBER_TYPES if isinstance(number_like, t))(number_like)
        raise ErrorMeta(TypeError, f"Unknown number type {type(number_like)}.", id=id)

    def compare(self):
        if self.check_dtype and type(self.actual) is not type(self.expected):
            self._fail(AssertionError, f"The (d)types do not match: {type(self.actual)} != {type(self.expected)}.")
        if self.actual == self.expected:
            return
        if self.equal_nan and cmath.isnan(self.actual) and cmath.isnan(self.expected):
            return
        diff = abs(self.actual - self.expected)
        if cmath.isfinite(diff) and diff <= self.atol + self.rtol * abs(self.expected):
            return
        self._fail(AssertionError, make_scalar_mismatch_msg(self.actual, self.expected, rtol=self.rtol, atol=self.atol))

    def extra_repr(self):
        return ["rtol", "atol", "equal_nan", "check_dtype"]


class TensorLikePair(Pair):
    """Tensors, and what torch.as_tensor makes one of: attributes first, then values."""

    def __init__(self, actual, expected, *, id=(), allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
                 check_dtype=True, check_layout=True, check_stride=False, **other_parameters):
        actual, expected = self._process_inputs(actual, expected, id=id, allow_subclasses=allow_subclasses)
        super().__init__(actual, expected, id=id, **other_parameters)
        self.rtol, self.atol = get_tolerances(actual, expected, rtol=rtol, atol=atol, id=self.id)
        self.equal_nan = equal_nan
        self.check_device, self.check_dtype, self.check_layout, self.check_stride = check_device, check_dtype, check_layout, check_stride

    def _process_inputs(self, actual, expected, *, id, allow_subclasses):
        related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
        if not related or (not allow_subclasses and type(actual) is not type(expected)):
            self._inputs_not_supported()
        actual, expected = self._to_tensor(actual), self._to_tensor(expected)
        for t in (actual, expected):
            self._check_supported(t, id=id)
        return actual, expected

    def _to_tensor(self, tensor_like):
        if isinstance(tensor_like, torch.Tensor):
            return tensor_like
        try:
            return torch.as_tensor(tensor_like)
        except Exception:
            self._inputs_not_supported()

    def _check_supported(self, tensor, *, id):
        if tensor.layout not in _LAYOUTS:
            raise ErrorMeta(ValueError, f"Unsupported tensor layout {tensor.layout}", id=id)

    def compare(self):
        actual, expected = self.actual, self.expected
        self._compare_attributes(actual, expected)
        if "meta" in (actual.device.type, expected.device.type):
            return
        actual, expected = self._equalize_attributes(actual, expected)
        self._compare_values(actual, expected)

    def _compare_attributes(self, actual, expected):
        def differ(name, a, e):
            self._fail(AssertionError, f"The values for attribute '{name}' do not match: {a} != {e}.")

        if actual.shape != expected.shape:
            differ("shape", actual.shape, expected.shape)
        if actual.is_quantized != expected.is_quantized:
            differ("is_quantized", actual.is_quantized, expected.is_quantized)
        if actual.layout != expected.layout:
            if self.check_layout:
                differ("layout", actual.layout, expected.layout)
        elif actual.layout == torch.strided and self.check_stride and actual.stride() != expected.stride():
            differ("stride()", actual.stride(), expected.stride())
        if self.check_device and actual.device != expected.device:
            differ("device", actual.device, expected.device)
        if self.check_dtype and actual.dtype != expected.dtype:
            differ("dtype", actual.dtype, expected.dtype)

    def _equalize_attributes(self, actual, expected):
        if actual.device != expected.device:
            actual, expected = actual.cpu(), expected.cpu()
        if actual.dtype != expected.dtype:
            dtype = torch.promote_types(actual.dtype, expected.dtype)
            actual, expected = actual.to(dtype), expected.to(dtype)
        if actual.layout != expected.layout:
            actual, expected = (t if t.layout == torch.strided else t.to_dense() for t in (actual, expected))
        return actual, expected

    def _compare_values(self, actual, expected):
        if actual.layout == torch.strided:
            compare = self._compare_regular_values_close
        elif actual.layout == torch.sparse_coo:
            compare = self._compare_sparse_coo_values
        else:
            compare = self._compare_sparse_compressed_values
        compare(actual, expected, rtol=self.rtol, atol=self.atol, equal_nan=self.equal_nan)

    def _compare_sparse_coo_values(self, actual, expected, *, rtol, atol, equal_nan):
        if actual._nnz() != expected._nnz():
            self._fail(AssertionError, f"The number of specified values in sparse COO tensors does not match: {actual._nnz()} != {expected._nnz()}")
        self._compare_regular_values_equal(actual._indices(), expected._indices(), identifier="Sparse COO indices")
        self._compare_regular_values_close(actual._values(), expected._values(), rtol=rtol, atol=atol, equal_nan=equal_nan, identifier="Sparse COO values")

    def _compare_sparse_compressed_values(self, actual, expected, *, rtol, atol, equal_nan):
        rows = actual.layout in (torch.sparse_csr, torch.sparse_bsr)
        name = {torch.sparse_csr: "CSR", torch.sparse_csc: "CSC", torch.sparse_bsr: "BSR", torch.sparse_bsc: "BSC"}[actual.layout]
        compressed, plain = ("crow_indices", "col_indices") if rows else ("ccol_indices", "row_indices")
        if actual._nnz() != expected._nnz():
            self._fail(AssertionError, f"The number of specified values in sparse {name} tensors does not match: {actual._nnz()} != {expected._nnz()}")
        for part in (compressed, plain):
            self._compare_regular_values_equal(getattr(actual, part)(), getattr(expected, part)(), identifier=f"Sparse {name} {part}")
        self._compare_regular_values_close(actual.values(), expected.values(), rtol=rtol, atol=atol, equal_nan=equal_nan, identifier=f"Sparse {name} values")

    def _compare_regular_values_equal(self, actual, expected, *, equal_nan=False, identifier=None):
        self._compare_regular_values_close(actual, expected, rtol=0, atol=0, equal_nan=equal_nan, identifier=identifier)

    def _compare_regular_values_close(self, actual, expected, *, rtol, atol, equal_nan, identifier=None):
        # A comparison is no part of the program: neither its gradient nor its capture is wanted.
        actual, expected = actual.detach(), expected.detach()
        matches = torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
        if torch.all(matches):
            return
        if actual.shape == torch.Size([]):
            msg = make_scalar_mismatch_msg(actual.item(), expected.item(), rtol=rtol, atol=atol, identifier=identifier)
        else:
            msg = make_tensor_mismatch_msg(actual, expected, matches, rtol=rtol, atol=atol, identifier=identifier)
        self._fail(AssertionError, msg)

    def extra_repr(self):
        return ["rtol", "atol", "equal_nan", "check_device", "check_dtype", "check_layout", "check_stride"]


_LAYOUTS = {getattr(torch, n) for n in ("strided", "jagged", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc") if hasattr(torch, n)}


def originate_pairs(actual, expected, *, pair_types, sequence_types=(collections.abc.Sequence,), mapping_types=(collections.abc.Mapping,), id=(), **options):
    """The pairs of two inputs; containers are taken apart, down to any depth."""

    def within(types):
        return isinstance(actual, types) and isinstance(expected, types)

    # A text's elements are texts: it is no container.
    if within(sequence_types) and not (isinstance(actual, str) or isinstance(expected, str)):
        if len(actual) != len(expected):
            raise ErrorMeta(AssertionError, f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", id=id)
        return [p for i in range(len(actual))
                for p in originate_pairs(actual[i], expected[i], pair_types=pair_types, sequence_types=sequence_types, mapping_types=mapping_types, id=(*id, i), **options)]
    if within(mapping_types):
        ours, theirs = set(actual.keys()), set(expected.keys())
        if ours != theirs:
            raise ErrorMeta(AssertionError, "The keys of the mappings do not match:\n"
                            f"Missing keys in the actual mapping: {sorted(theirs - ours)}\n"
                            f"Additional keys in the actual mapping: {sorted(ours - theirs)}", id=id)
        keys = ours
        with contextlib.suppress(Exception):
            keys = sorted(ours)
        return [p for k in keys
                for p in originate_pairs(actual[k], expected[k], pair_types=pair_types, sequence_types=sequence_types, mapping_types=mapping_types, id=(*id, k), **options)]
    for cls in pair_types:
        try:
            return [cls(actual, expected, id=id, **options)]
        except UnsupportedInputs:
            continue
        except ErrorMeta:
            raise
        except Exception as error:
            raise RuntimeError(f"Originating a {cls.__name__}() at item {''.join(f'[{i!r}]' for i in id)} with\n\n{type(actual).__name__}(): {actual}\n\n"
                               f"and\n\n{type(expected).__name__}(): {expected}\n\nresulted in the unexpected exception above. "
                               "If you are a user and see this message during normal operation please file an issue at https://github.com/pytorch/pytorch/issues. "
                               "If you are a developer and working on the comparison functions, please except the previous error and raise an expressive `ErrorMeta` instead.") from error
    raise ErrorMeta(TypeError, f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.", id=id)


def not_close_error_metas(actual, expected, *, pair_types=(ObjectPair,), sequence_types=(collections.abc.Sequence,), mapping_types=(collections.abc.Mapping,), **options):
    """All differences of two inputs; an empty list says that there are none."""
    try:
        pairs = originate_pairs(actual, expected, pair_types=pair_types, sequence_types=sequence_types, mapping_types=mapping_types, **options)
    except ErrorMeta as found:
        raise found.to_error() from None
    found = []
    for pair in pairs:
        try:
            pair.compare()
        except ErrorMeta as e:
            found.append(e)
        except Exception as error:
            raise RuntimeError(f"Comparing\n\n{pair}\n\nresulted in the unexpected exception above. "
                               "If you are a user and see this message during normal operation please file an issue at https://github.com/pytorch/pytorch/issues. "
                               "If you are a developer and working on the comparison functions, please except the previous error and raise an expressive `ErrorMeta` instead.") from error
    return found


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True, check_dtype=True,
                 check_layout=True, check_stride=False, msg=None):
    """Raises an AssertionError that says how actual and expected differ, if |actual - expected| > atol + rtol * |expected| somewhere."""
    __tracebackhide__ = True
    found = not_close_error_metas(actual, expected, pair_types=(NonePair, BooleanPair, NumberPair, TensorLikePair), allow_subclasses=allow_subclasses,
                                  rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=check_device, check_dtype=check_dtype,
                                  check_layout=check_layout, check_stride=check_stride, msg=msg)
    if found:
        raise found[0].to_error(msg)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """The older form of assert_close, which is deprecated."""
    import warnings

    warnings.warn("`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please use `torch.testing.assert_close()` instead. "
                  "You can find detailed upgrade instructions in https://github.com/pytorch/pytorch/issues/61844.", FutureWarning, stacklevel=2)
    if not isinstance(actual, torch.Tensor):
        actual = torch.tensor(actual)
    if not isinstance(expected, torch.Tensor):
        expected = torch.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = default_tolerances(actual, expected, dtype_precisions={torch.float16: (1e-3, 1e-3), torch.float32: (1e-4, 1e-5), torch.float64: (1e-5, 1e-8)})
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False, check_stride=False, msg=msg or None)

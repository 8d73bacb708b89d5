import torch


def assert_close(actual, expected, *, rtol=None, atol=None, equal_nan=False, msg=None, check_dtype=True, **kwargs):
    if isinstance(expected, (list, tuple)):
        for a, e in zip(actual, expected):
            assert_close(a, e, rtol=rtol, atol=atol, equal_nan=equal_nan, msg=msg)
        return
    defaults = {torch.float32: (1.3e-6, 1e-5), torch.float64: (1e-7, 1e-7), torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5)}
    r, a = defaults.get(expected.dtype, (0.0, 0.0))
    r, a = r if rtol is None else rtol, a if atol is None else atol
    if actual.shape != expected.shape:
        raise AssertionError(f"The values for attribute 'shape' do not match: {actual.shape} != {expected.shape}.")
    if check_dtype and actual.dtype != expected.dtype:
        raise AssertionError(f"The values for attribute 'dtype' do not match: {actual.dtype} != {expected.dtype}.")
    if not torch.allclose(actual, expected, rtol=r, atol=a, equal_nan=equal_nan):
        raise AssertionError(msg or f"Tensor-likes are not close!\n\nGreatest absolute difference: {(actual - expected).abs().max().item()} (up to {a} allowed)")

"""Settings of CUDA, which programs set and read back; nothing here depends on them."""
import contextlib


class _Settings:
    """Attributes with a start value."""

    def __init__(self, **start):
        self.__dict__.update(start)


matmul = _Settings(allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True, allow_fp16_accumulation=False)
_sdp = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True}


def is_built():
    return False


def _switch(name):
    def enabled():
        return _sdp[name]

    def enable(enabled):
        _sdp[name] = bool(enabled)

    return enabled, enable


flash_sdp_enabled, enable_flash_sdp = _switch("flash")
math_sdp_enabled, enable_math_sdp = _switch("math")
mem_efficient_sdp_enabled, enable_mem_efficient_sdp = _switch("mem_efficient")
cudnn_sdp_enabled, enable_cudnn_sdp = _switch("cudnn")


@contextlib.contextmanager
def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    before = dict(_sdp)
    _sdp.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield
    finally:
        _sdp.update(before)


class SDPAParams:
    """The arguments of scaled_dot_product_attention by which a kernel is chosen."""

    def __init__(self, query, key, value, attn_mask, dropout, is_causal, enable_gqa):
        self.query, self.key, self.value, self.attn_mask = query, key, value, attn_mask
        self.dropout, self.is_causal, self.enable_gqa = dropout, is_causal, enable_gqa

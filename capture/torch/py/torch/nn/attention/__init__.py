"""Which kernel computes attention."""
from torch._absent import declare

declare("sdpa_kernel", "SDPBackend")

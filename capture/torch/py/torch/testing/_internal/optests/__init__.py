"""Checks of a function under the compiler's stages."""
from torch._absent import declare

from .aot_autograd import _test_aot_autograd_forwards_backwards_helper, aot_autograd_check

declare("dontGenerateOpCheckTests", "fake_check", "generate_opcheck_tests", "is_inside_opcheck_mode", "make_fx_check", "opcheck", "OpCheckError")

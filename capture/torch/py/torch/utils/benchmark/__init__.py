"""Measuring how long parts of a program take."""
from torch.utils.benchmark.utils.common import Measurement, TaskSpec, ordered_unique, select_unit, set_torch_threads, trim_sigfig, unit_to_english
from torch.utils.benchmark.utils.timer import Language, Timer, timer
from torch._absent import declare

declare("Compare", "Colorize", "FuzzedParameter", "FuzzedSparseTensor", "FuzzedTensor", "Fuzzer", "ParameterAlias", "CallgrindStats", "CopyIfCallgrind", "FunctionCount", "FunctionCounts")

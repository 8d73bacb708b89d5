"""Names for annotations."""
import builtins
from typing import Any, List, Optional, Sequence, Tuple, Union

import torch
from torch import SymBool, SymFloat, SymInt

_TensorOrTensors = Union[torch.Tensor, Sequence[torch.Tensor]]
_dtype, _device, _layout = torch.dtype, torch.device, torch.layout
_size = Union[torch.Size, List[builtins.int], Tuple[builtins.int, ...]]
_bool, _int, _float, _complex = builtins.bool, builtins.int, builtins.float, builtins.complex
_symint = SymInt
Number = Union[builtins.int, builtins.float, builtins.bool]
_Number = (builtins.int, builtins.float, builtins.bool)
Device = Optional[Union[_device, str, builtins.int]]
FileLike = Any
Storage = torch.UntypedStorage

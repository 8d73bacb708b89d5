"""Comparison and creation of tensors in tests."""
from torch._C import FileCheck
from torch.testing._comparison import assert_allclose, assert_close
from torch.testing._creation import make_tensor

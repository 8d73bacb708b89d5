from torch._C import _Node as Node

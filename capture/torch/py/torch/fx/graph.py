from torch._C import _Graph as Graph

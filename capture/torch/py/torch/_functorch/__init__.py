
from torch._functorch import config

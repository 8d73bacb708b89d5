"""All polyfills: importing this makes capture use them."""
from torch._dynamo.polyfills import builtins, functools, itertools, operator, os, sys  # noqa: F401

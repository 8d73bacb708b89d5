"""Parameters in one piece."""
from torch._absent import declare

declare("FlatParamHandle", "FlatParameter")

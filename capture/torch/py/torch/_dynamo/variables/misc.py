"""Values of a trace."""
from torch._absent import declare

declare("GetAttrVariable")

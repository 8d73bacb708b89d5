"""Values of a trace."""
from torch._absent import declare

declare("BaseListVariable", "ListVariable", "RangeVariable", "TupleVariable", "SizeVariable", "SliceVariable", "NamedTupleVariable")

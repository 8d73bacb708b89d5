"""What inductor makes of a graph."""
from torch._absent import declare

declare("CompiledFxGraph", "MockFXGraphCacheOutput", "OutputCode")

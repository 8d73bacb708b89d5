"""Names of compiled graphs."""
from torch._absent import declare

declare("CacheBase", "CppCodeCache", "FxGraphCache", "PyCodeCache", "compiled_fx_graph_hash", "sha256_hash", "code_hash")

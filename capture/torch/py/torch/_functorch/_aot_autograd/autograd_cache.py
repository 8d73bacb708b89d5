"""A cache of graphs with their backward."""
from torch._absent import declare

declare("AOTAutogradCache", "AOTAutogradCacheEntry", "BypassAOTAutogradCache", "autograd_cache_key")

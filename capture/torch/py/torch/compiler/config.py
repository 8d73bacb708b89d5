"""Settings of torch.compile as a whole."""
from torch._dynamo._config_module import install

install(__name__, {"job_id": None, "cache_key_tag": "", "dynamic_sources": "", "force_disable_caches": False})

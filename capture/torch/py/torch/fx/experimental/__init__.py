"""What is tried out: proxies, symbolic shapes, settings."""
from torch.fx.experimental import _config

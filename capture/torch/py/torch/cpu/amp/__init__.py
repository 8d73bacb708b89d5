"""Mixed precision under its old name; torch.amp with device_type="cpu"."""
from torch.cpu.amp.autocast_mode import autocast
from torch.cpu.amp.grad_scaler import GradScaler

from torch.amp.autocast_mode import autocast, is_autocast_available
from torch.amp.autocast_mode import custom_bwd, custom_fwd
from torch.amp.grad_scaler import GradScaler

from torch.amp.autocast_mode import autocast, is_autocast_available

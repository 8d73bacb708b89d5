from torch.amp.autocast_mode import autocast

from torch.signal import windows

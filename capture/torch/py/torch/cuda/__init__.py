from torch.cuda import amp


def is_available():
    return False


def device_count():
    return 0


def manual_seed(seed):
    pass


def manual_seed_all(seed):
    pass


def synchronize(device=None):
    raise AssertionError("Torch not compiled with CUDA enabled")

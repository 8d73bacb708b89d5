"""The accelerator of this machine: there is none."""


def is_available():
    return False


def device_count():
    return 0


def current_accelerator():
    raise RuntimeError("Cannot access accelerator device when none is available.")


def current_device_index():
    return current_accelerator()

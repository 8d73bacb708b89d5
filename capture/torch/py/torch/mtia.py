"""A kind of device that is not there."""


def is_available():
    return False


def device_count():
    return 0

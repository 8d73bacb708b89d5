"""Whether mkldnn is there."""
enabled = True


def is_available():
    return True

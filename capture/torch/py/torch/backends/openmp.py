"""Whether openmp is there."""


def is_available():
    return True

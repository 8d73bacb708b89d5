"""TVM, which is not there."""

def has_tvm():
    return False

def outer():
    def inner():
        nonlocal v
        del v
        return v
    v = 1
    return inner()
outer()

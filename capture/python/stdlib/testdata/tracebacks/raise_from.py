def a():
    try:
        {}["x"]
    except KeyError:
        int("nope")
def b():
    try:
        a()
    except ValueError as e:
        raise RuntimeError("outer") from e
b()

def gen():
    yield 1
    raise StopIteration("x")
for v in gen():
    print(v)

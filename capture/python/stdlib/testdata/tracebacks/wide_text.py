def f(é, b):
    return é.foo(b, 1)(3) * "ü" + f"{b!r}" / 2
f("日本", [x for x in "ab"])

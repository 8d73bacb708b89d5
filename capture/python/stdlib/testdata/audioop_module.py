# Every function of audioop on the same noise, at each width.
import audioop, hashlib, random

random.seed(3)


def noise(n):
    return bytes(random.choice([0, 127, 128, 255, random.randrange(256)]) for _ in range(n))


def show(name, *args):
    try:
        v = getattr(audioop, name)(*args)
    except Exception as e:
        print(name, type(e).__name__, e)
        return
    if isinstance(v, bytes):
        v = (len(v), hashlib.sha1(v).hexdigest()[:12], v[:8])
    elif isinstance(v, tuple) and isinstance(v[0], bytes):
        v = (len(v[0]), hashlib.sha1(v[0]).hexdigest()[:12]) + v[1:]
    print(name, v)


for w in 1, 2, 3, 4:
    data, other = noise(24 * 7), noise(24 * 7)
    print("##", w)
    for name in "max minmax avg rms avgpp maxpp cross reverse byteswap lin2ulaw lin2alaw ulaw2lin alaw2lin".split():
        show(name, data, w)
        show(name, b"", w)
    for k in 0, -1, 1, 0.3, -1.5, 1e9, float("inf"):
        show("mul", data, w, k)
    for b in 0, 1, -1, 1 << 30, -(1 << 31):
        show("bias", data, w, b)
    show("tomono", data, w, 0.6, -0.6)
    show("tostereo", data, w, 0.6, -1.7)
    show("add", data, other, w)
    for n in 1, 2, 3, 4, 5:
        show("lin2lin", data, w, n)
    show("getsample", data, w, 3)
    show("getsample", data, w, 1000)
    show("lin2adpcm", data, w, None)
    show("lin2adpcm", data, w, (-300, 40))
    show("adpcm2lin", data, w, (12, 88))
    for channels, a, b in (1, 8000, 11025), (2, 44100, 8000), (3, 5, 7):
        show("ratecv", data, w, channels, a, b, None)
        show("ratecv", data, w, channels, a, b, (2, ((1, 2),) * channels), 3, 2)
a = noise(400)
show("findfit", a, a[100:140])
show("findfactor", a[:40], a[40:80])
show("findmax", a, 20)
for args in ("findfit", b"a", b""), ("findfit", b"", b"ab"), ("findfactor", b"ab", b""), ("findmax", b"ab", 5), ("findmax", b"ab", -1), ("add", b"a", b"ab", 1), ("add", b"a", b"a", 2), (
        "max", b"abc", 2), ("max", b"", 0), ("max", "a", 1), ("tomono", b"ab", 2, 1, 1), ("ratecv", b"", 1, 0, 1, 1, None), ("ratecv", b"", 1, 1, 0, 1, None), ("ratecv", b"", 1, 1, 1, 1, None, 0), (
        "ratecv", b"", 4, 1 << 30, 1, 1, None), ("ratecv", b"a", 1, 1, 1, 1, 5), ("ratecv", b"a", 1, 1, 1, 1, (1, 2)), ("ratecv", b"a", 1, 1, 1, 1, (1, ())), ("lin2adpcm", b"", 1, 3), ("lin2adpcm", b"", 1, (0, 89)):
    show(*args)

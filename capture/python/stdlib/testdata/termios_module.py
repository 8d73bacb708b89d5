# A pseudo-terminal's attributes and size; what makes bytearrays, random generators and errors of the system anew.
import os, pickle, pty, random, _random, termios, tty

m, s = pty.openpty()
a = termios.tcgetattr(s)
print(a)
for source in ("tcsetattr(s, 0, [1])", "tcsetattr(s, 0, a[:6] + [[1]])", "tcsetattr(s, 0, a)", "tcgetwinsize(s)", "tcsetwinsize(s, (3, 4))", "tcgetwinsize(s)", "tcgetattr('x')", "tcgetattr(99)",
               "tcsetattr(s, 0, 3)", "tcsetattr(s, 0, a[:6] + [3])", "tcsetattr(s, 9, a)", "tcsetattr(s, 0, a[:6] + [a[6][:3] + ['x'] + a[6][4:]])", "tcdrain(s)", "tcflush(s, 0)", "tcflow(s, 1)",
               "tcsendbreak(s, 0)", "tcsetwinsize(s, 3)", "tcsetwinsize(s, (1,))", "tcsetwinsize(s, ('a', 1))", "tcsetwinsize(s, (-1, 1))", "tcsetattr(s, 0, ['a'] + a[1:])", "tcflush(s, 99)",
               "tcsetattr(s, 0, a[:6] + [a[6][:3] + [3] + a[6][4:]])"):
    try:
        print(source, eval("termios." + source))
    except Exception as e:
        print(source, type(e), e, e.args)
a[3] &= ~termios.ICANON
termios.tcsetattr(s, 0, a)
print(termios.tcgetattr(s)[6][:8])
tty.setraw(s)
print(termios.tcgetattr(s), termios.error)
print(sorted((k, v) for k, v in vars(termios).items() if isinstance(v, int)))


class BA(bytearray): pass


b = BA(b"x\xff")
b.z = 1
for p in range(6):
    print(pickle.loads(pickle.dumps(b, p)).z, bytearray(b"\xffa").__reduce_ex__(p), bytearray().__reduce_ex__(p))
print(b.__reduce__(), bytearray(b"\xff").__reduce__())


class Unseeded(random.Random):
    def __init__(self, *args, **kw): pass


for make in (lambda: _random.Random([1]), lambda: random.Random([1]), lambda: _random.Random(1, 2), lambda: _random.Random(x=1), lambda: Unseeded([1], x=2).random(), lambda: random.Random((1,) and 1).random()):
    try:
        print(make())
    except TypeError as e:
        print(e)


class T(TimeoutError):
    def __init__(self, q): self.q = q


class U(OSError):
    def __init__(self, q): super().__init__(q, "x")


class V(OSError):
    def __new__(cls, *args): return super().__new__(cls, *args)
    def __init__(self, *args): pass


print(repr(T(1)), T(1).args, T(1).errno, repr(U(1)), U(1).args, U(1).strerror, repr(V(1)), V(1, 2).args, V(1, 2).errno)

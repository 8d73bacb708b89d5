# What threads have touched goes with the last name, the scope, or the thread: __del__, locals, weak references.
import array, gc, os, threading, weakref


class P:
    def __init__(self, of):
        self.of = of


class Y:
    def __init__(self, n):
        self.n = n

    def look(self):
        try:
            os.stat('/no/such/file')
        except OSError as e:
            return e.errno

    def proxy(self):
        return P(self)

    def __del__(self):
        print('del', self.n)


def run(f, *a):
    t = threading.Thread(target=f, args=a)
    t.start()
    t.join()
    return t


def look(o):
    o.look()


a = Y('a')
t = run(look, a)
a.look()
a.proxy()
del a
print('after a')


def scope():
    b = Y('b')
    run(look, b)


scope()
print('after b')

places = threading.local()


def keep(o):
    places.o = o


c = Y('c')
t = run(keep, c)
del c
print('after c')


class Local(threading.local):
    def __init__(self, x, *, y=2):
        self.x, self.y = x, y


l = Local(1, y=3)
run(lambda: print(l.x, l.y, l.__dict__))
l.x = 5
run(lambda: print(l.x))


class Broken(threading.local):
    ok = True

    def __init__(self):
        if not self.ok:
            raise ValueError('broken')


def twice():
    for _ in range(2):
        try:
            print(broken.__dict__)
        except ValueError as e:
            print(e)


broken = Broken()
Broken.ok = False
run(twice)

# lists keep nothing behind their end
rest = [Y(i) for i in range(2)]
del rest[0]
print('after 0', len(rest))
rest.pop(0)
print('after 1')

for make in lambda: array.array('i', [1]), lambda: memoryview(b'x'):
    o = make()
    p, r = weakref.proxy(o), weakref.ref(o)
    print(len(p), r() is o)
    del o
    gc.collect()
    try:
        len(p)
    except ReferenceError as e:
        print(e, r())

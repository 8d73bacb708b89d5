print(b'%c|%c|%3c' % (200, b'a', 65))
try: b'%c' % 300
except OverflowError as e: print(e)
try: b'%c' % 'a'
except TypeError as e: print(e)
class D:
    def __get__(self, o, t): return ('got', o, t.__name__)
class A:
    d = classmethod(D())
    p = classmethod(property(lambda cls: cls.__name__))
    n = classmethod(classmethod(lambda cls: cls.__name__))
    l = classmethod(len)
    t = classmethod(type)
print(A.d[0], A.d[2], A().p, A.n(), A().t())
try: A.l()
except TypeError as e: print(e)
print(repr(A.__dict__['l']), repr(staticmethod(3)))

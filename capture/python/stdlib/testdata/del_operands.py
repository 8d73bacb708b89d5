# What one call makes for another has its __del__ called when that one is over.
class D:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        print("del", self.n)

    def m(self):
        return 1

    def me(self):
        return self


kept = []


def take(*a, **k):
    return len(a)


def keep(d):
    kept.append(d)
    return 1


class Holder:
    def __init__(self, d):
        self.d = d


def function():
    len([D("in a list")])
    print(1)
    D("receiver").m()
    print(2)
    take(D("argument"))
    print(3)
    take(k=D("by keyword"))
    print(4)
    x = len([D("of a value")])
    print(5, x)
    str(D("nested").m())
    print(6)
    D("returned").me().m()
    print(7)
    print(D("printed").m())
    x = f"{D('formatted').m()}"
    print(8)
    isinstance(D("asked about"), int)
    print(9)
    if D("condition").m():
        print(10)
    while D("loop").m():
        break
    keep(D("kept"))
    print(11)
    h = Holder(D("held"))
    print(12, h.d.n)
    y = D("named").me()
    print(13, y.n)
    take(y, D("beside one that is named"))
    print(14)
    return D("result").m()


function()
print("end of the function")
len([D("in a list")])
print(1)
D("receiver").m()
print(2)
take(D("argument"))
print(3)
x = [D("comprehension %d" % i).m() for i in range(2)]
sorted([D("sorted")], key=id)
print(4)
kept.clear()

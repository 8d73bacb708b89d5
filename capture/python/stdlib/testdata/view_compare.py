# Views of dicts compare by what they hold, hashable or not.
class C:
    def __eq__(self, o): raise RuntimeError("eq")
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
d1 = {1: C()}; d2 = {1: C()}; d3 = {1: C(), 2: C()}
t(lambda: d1.items() == d2.items()); t(lambda: d1.items() != d2.items()); t(lambda: d1.items() <= d2.items()); t(lambda: d2.items() < d3.items()); t(lambda: d3.items() > d2.items())
t(lambda: {1: []}.items() == {1: []}.items()); t(lambda: {1: []}.items() < {1: [], 2: 3}.items()); t(lambda: {1: 2}.keys() == {1}); t(lambda: {1: 2}.items() == {(1, 2)}); t(lambda: {1: 2}.keys() <= [1]); t(lambda: {1:2}.keys() == {1:3}.keys()); t(lambda: {1: []}.items() & {1: []}.items()); t(lambda: {1: []}.items().isdisjoint({2: []}.items())); t(lambda: (1, []) in {1: []}.items())

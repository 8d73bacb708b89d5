import builtins, re
def print(*a, **k): builtins.print(*[re.sub('0x[0-9a-f]{6,}', 'ADDR', str(x)) for x in a], **k)
def r(n,it,k=1):
    try:
        print(n, it.__reduce__(), end=' ')
    except BaseException as e: print(n, type(e).__name__, e, end=' ')
    try:
        for _ in range(k): next(it)
        print('|', it.__reduce__(), end=' ')
        for _ in it: pass
        print('|', it.__reduce__())
    except BaseException as e: print(type(e).__name__, e)
L=[1,2,3]
class G:
    def __getitem__(s,i):
        if i>2: raise IndexError
        return i
    def __repr__(s): return 'G'
    def __len__(s): return 3
r('list',iter(L));r('tuple',iter((1,2)));r('str',iter('abc'));r('str2',iter('a\u1234'));r('bytes',iter(b'ab'));r('ba',iter(bytearray(b'ab')));r('range',iter(range(3)));r('lrange',iter(range(2**70,2**70+3)));r('dict',iter({1:2,3:4}));r('dv',iter({1:2,3:4}.values()));r('di',iter({1:2,3:4}.items()));r('set',iter({1,2}));r('fs',iter(frozenset({1})));r('call',iter(lambda:1,1));r('seq',iter(G()));r('enum',enumerate([1,2]));r('enum5',enumerate([1,2],2**70));r('zip',zip([1,2],[3,4]));r('zips',zip([1,2],[3,4],strict=True));r('map',map(len,['a','b']));r('filter',filter(None,[1,0,2]));r('rev',reversed([1,2,3]));r('revt',reversed((1,2)));r('revr',reversed(range(3)));r('revG',reversed(G()));r('revs',reversed('ab'));r('mv',iter(memoryview(b'ab')))
def s(n,it,st):
    try:
        it.__setstate__(st); print(n,st,list(it))
    except BaseException as e: print(n,st,type(e).__name__, e)
for st in (0,1,-5,100,'x',2**70):
    s('list',iter(L),st);s('tuple',iter((1,2)),st);s('str',iter('abc'),st);s('bytes',iter(b'ab'),st);s('ba',iter(bytearray(b'ab')),st);s('range',iter(range(3)),st);s('lrange',iter(range(2**70,2**70+3)),st);s('dict',iter({1:2}),st);s('seq',iter(G()),st);s('rev',reversed([1,2,3]),st);s('revt',reversed((1,2)),st);s('revr',reversed(range(3)),st);s('zip',zip([1,2],[3,4]),st);s('map',map(len,['a']),st);s('enum',enumerate('a'),st);s('call',iter(lambda:1,1),st);s('mv',iter(memoryview(b'ab')),st)
import operator
for it in (iter(L),iter((1,2)),iter('abc'),iter(b'ab'),iter(bytearray(b'a')),iter(range(3)),iter({1:2}),iter({1,2}),reversed(L),reversed((1,2)),reversed(range(3)),iter(G()),iter(lambda:1,1),enumerate(L),zip(L),map(len,L),iter(memoryview(b'ab')),reversed('ab')):
    print(type(it).__name__, operator.length_hint(it,'none') if 0 else hasattr(it,'__length_hint__') and it.__length_hint__(), end='; ')
print()
for o in (range(1,5,2),range(2**70),slice(1,2,3),...,NotImplemented,len,[].append,dict.fromkeys,str.join,{}.keys,type(len).__name__, vars(type)['__dict__'],G.__getitem__,G().__getitem__):
    try: print(repr(o)[:30], o.__reduce_ex__(2), o.__reduce_ex__(0))
    except BaseException as e: print(repr(o)[:30],type(e).__name__, e)
class E(enumerate): pass
print(E('a').__reduce__())
t=zip([1,2],[3],strict=True); print(next(t)); t2=zip([1,2],[3]); t2.__setstate__(True)
try: print(list(t2))
except ValueError as e: print(e)

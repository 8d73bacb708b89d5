class X:
    def __init__(s,v=2): s.v=v
    def __index__(s): return s.v
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
# What does not fit 64 bits: ranges, indices, repetition, widths; and what methods of numbers leave to others.
B=12345678901234567890
for f in [lambda:[1]*B, lambda:B*[1], lambda:"a"*B, lambda:(1,)*-B, lambda:b"a"*B, lambda:[1].pop(B), lambda:[1].insert(B,2), lambda:"a".center(B), lambda:"a".replace("a","b",B), lambda:"a".split("a",B),
 lambda:[1,2].index(2,-B,B), lambda: "abc".find("b",-B,B), lambda:"abc".count("b",0,B), lambda:[1][B], lambda:"a"[-B], lambda:b"a"[B], lambda:range(3)[B], lambda:range(B)[5], lambda:len(range(B)), lambda:range(B)[-1], lambda:range(B)[5:-3:7], lambda:range(B).index(7), lambda: B-1 in range(B),
 lambda:next(iter(range(B,B+5))), lambda:list(reversed(range(B,B+3))), lambda:range(B)==range(B), lambda:hash(range(3))==hash((3,0,1)), lambda:hash(range(B))==hash((B,0,1)), lambda:bool(range(B)), lambda:slice(B).indices(10), lambda:slice(None,None,-1).indices(B), lambda:list(enumerate("ab",B)),
 lambda:bytes([B]), lambda:bytearray([1]).append(300), lambda:chr(B), lambda:hex(B), lambda:round(1.5,B), lambda:round(15,B), lambda:int("1",B), lambda:(5).to_bytes(B), lambda:1<<B, lambda:1>>B, lambda:0<<B, lambda: 1**B, lambda:2.0**B, lambda:bytes(B), lambda:bytearray(-1), lambda: list(range(B, B+10, 3)), lambda:range(1.5), lambda:range(3)[1.5], lambda:range(B)["a"], lambda:range(B).count(3), lambda:range(0), lambda: list(range(3))[B:], lambda: [1,2,3][-B:B:B], lambda: __import__("math").factorial(B), lambda: [1]*10**15, lambda: [1]*X(),lambda: X()*"ab", lambda: "ab"*X(B), lambda: __import__("math").factorial(2.5),lambda: __import__("math").comb(B,2),lambda: __import__("math").comb(3,-1),lambda: __import__("math").comb(-3,1),lambda: __import__("math").perm(B,2),lambda: __import__("math").perm(3,-1),lambda: __import__("math").perm(-3),lambda: __import__("math").ldexp(1.0,B),lambda: __import__("math").ldexp(1.0,-B),lambda: __import__("math").ldexp(1.0,2000),lambda: __import__("math").isqrt(B*B), lambda: __import__("math").modf(None), lambda: "%c" % B, lambda: "%*d" % (B, 1), lambda: format(1, "%dd" % B), lambda: "a".ljust(-B), lambda: "a".zfill(B), lambda:(2).__add__(1.0), lambda: (2).__radd__(1.0),lambda: (2.0).__add__(1), lambda: (1).__pow__(2,3), lambda:(1).__and__(2.0), lambda: int.__add__("a",1), lambda: list.append((),1), lambda:divmod(1,2.5), lambda:(1).__divmod__(2.5), lambda: (1j).__add__("a"), lambda:{1}.__or__([1]), lambda:{}.__or__([1]),lambda:[].__eq__(()), lambda:(1).__lt__(2.0),lambda:(1.0).__lt__(2),lambda:"a".__lt__(1), lambda:{1}.__lt__([1]), lambda:[].__lt__(()), lambda: __import__("itertools").islice([1],B), lambda: list(__import__("itertools").repeat(1,-B)), lambda: __import__("itertools").repeat(1,B)]:
    t(f)
import pickle
print((-0.0).hex(), float.fromhex('-0x0.0p+0'), float.fromhex('0x1.8'), float.fromhex('1p3'), float.fromhex('  -0X.8P-2 '), float.fromhex('inf'), float.fromhex('nan'), float.fromhex('-Infinity'), float.fromhex('10'))
for s in '', 'x', '0x', '1p', '0x1.8p+99999', 'p3':
    try: print(float.fromhex(s))
    except (ValueError, OverflowError) as e: print(type(e).__name__, e)
for v in 0.0, -0.0, 1.5, 1e-320, float('inf'), float('-inf'), float('nan'), 2.0**1023: print(v.hex())
print(pickle.loads(pickle.dumps([-0.0])))

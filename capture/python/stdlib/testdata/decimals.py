"""Decimal numbers, random ones."""
import random, operator
from decimal import *
random.seed(7)
SKIP = ()
def rnd():
    k=random.randrange(12)
    if k==0: return Decimal(random.choice(["0","-0","0.00","1E+3","-0E-5","Infinity","-Infinity","NaN","1","10","-1"]))
    return Decimal((random.choice("-  ")+str(random.randrange(10**random.randrange(1,20)))+"e"+str(random.randrange(-12,6))).strip())
def sh(f):
    try: return str(f())
    except Exception as e: return type(e).__name__+":"+str(e)
for i in range(250):
    a,b=rnd(),rnd()
    if i%5==0: getcontext().prec=random.choice([3,9,28]); getcontext().rounding=random.choice([ROUND_HALF_EVEN,ROUND_HALF_UP,ROUND_DOWN,ROUND_FLOOR,ROUND_CEILING,ROUND_UP])
    if i not in SKIP: print(a,b,*(sh(lambda:op(a,b)) for op in (operator.add,operator.sub,operator.mul,operator.truediv,operator.floordiv,operator.mod,operator.eq,operator.lt,divmod)),
      sh(lambda:a.sqrt()),sh(lambda:a.quantize(Decimal("0.01"))),sh(lambda:a.normalize()),sh(lambda:round(a,2)),sh(lambda:int(a)),sh(lambda:f"{a:.3f}|{a:,.2f}|{a:e}|{a:.2e}|{a:g}|{a:>12}|{a:.1%}|{a:+}"),sh(lambda:-a),sh(lambda:+a),sh(lambda:abs(a)),sh(lambda:a.as_tuple()),sh(lambda:hash(a) if not a.is_nan() else 0),sh(lambda:a.to_integral_value()),sh(lambda:a**(int(i%7)-1)),sh(lambda:float(a)),repr(a),sh(lambda:a.adjusted()),sh(lambda:a.as_integer_ratio()),a.to_eng_string(),sh(lambda: a.exp() if abs(a.adjusted())<3 and i%9==0 else 0),sh(lambda: a.ln() if i%9==0 else 0),sh(lambda: a.log10() if i%9==0 else 0))

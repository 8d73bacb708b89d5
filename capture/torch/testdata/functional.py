import torch
from torch.autograd.functional import *
f=lambda x: (x**3).sum()
g=lambda x,y: (x*y, x.exp())
x=torch.tensor([1.,2.]); y=torch.tensor([3.,4.])
print(vjp(f,x), vjp(g,(x,y),(y,x)), jvp(f,x,y), jvp(g,(x,y),(y,x)), jacobian(f,x), jacobian(g,(x,y)), hessian(f,x), hessian(lambda x,y:(x*y*y).sum(),(x,y)), vhp(f,x,y), hvp(f,x,y))
for h in (lambda: vjp(g,(x,y)), lambda: vjp(f,3), lambda: jvp(f,x), lambda: hessian(lambda x:x,x), lambda: vjp(f,x,y), lambda: vjp(lambda x:x,x,torch.ones(3))):
    try: print(h())
    except Exception as e: print(type(e).__name__, e)

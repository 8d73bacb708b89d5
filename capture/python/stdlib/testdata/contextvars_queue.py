import builtins, re
def print(*a, **k): builtins.print(*[re.sub('0x[0-9a-f]{6,}', 'ADDR', str(x)) for x in a], **k)
import _contextvars as c, contextvars, threading, _queue, _statistics, _typing, pickle, copy
def t(f,*a,**k):
    try: print(repr(f(*a,**k)))
    except BaseException as e: print(type(e).__name__, e)
V=c.ContextVar
t(V,1);t(V,'a',default=1);t(V,'a',x=1);v=V('v');w=V('w',default=[1]);print(v.name,w.name)
t(v.get);t(v.get,5);t(v.get,default=5);t(w.get);t(w.get,5);t(v.get,1,2);t(v.set);t(setattr,v,'name','x');t(setattr,v,'x',1)
tok=v.set(1);print(tok.var is v,tok.old_value is c.Token.MISSING,repr(c.Token.MISSING),v.get());tok2=v.set(2);print(tok2.old_value);r=repr(tok);print('used' in r,r.split(' at ')[0],repr(v).split(' at ')[0],repr(w).split(' at ')[0])
t(v.reset,tok2);print(v.get());t(w.reset,tok);
try: v.reset(tok2)
except RuntimeError as e: print(str(e)[:30], str(e)[-20:])
t(v.reset,5);t(v.reset);v.reset(tok);t(v.get);print('used' in repr(tok))
t(c.Token);t(c.Context,1);t(c.Context,x=1);ctx=c.Context();print(len(ctx),list(ctx),ctx.keys(),ctx.values(),ctx.items())
v.set(10);ctx=c.copy_context();print(len(ctx)>=1,ctx[v],v in ctx,w in ctx,ctx.get(v),ctx.get(w),ctx.get(w,7),type(ctx.keys()),type(iter(ctx)));t(lambda:ctx[w]);t(lambda:ctx['a']);t(lambda:'a' in ctx);t(ctx.get,'a');t(ctx.get);t(setattr,ctx,'x',1)
def f(x): v.set(x);return v.get()
t(ctx.run,f,20);print(v.get(),ctx[v]);t(ctx.run);t(ctx.run,5)
def g(): ctx.run(f,1)
try: ctx.run(g)
except RuntimeError as e: print(str(e)[:30],1)
tk=[]
def h(): tk.append(v.set(1))
ctx.run(h)
try: v.reset(tk[0])
except ValueError as e: print(str(e)[-33:])
try: w.reset(tk[0])
except ValueError as e: print(str(e)[-36:])
c2=ctx.copy();print(c2==ctx,c2 is ctx,ctx==5,c.Context()==c.Context());t(hash,ctx);v2=V('v2');c2.run(v2.set,3);print(c2==ctx,len(c2)-len(ctx))
out=[]
th=threading.Thread(target=lambda:out.append(v.get('none')));th.start();th.join();print(out)
t(pickle.dumps,v);t(copy.copy,ctx).__class__;t(pickle.dumps,tok);t(V.__class_getitem__,int);t(lambda:V[int]);t(lambda:c.Token[int])
t(type,'X',(V,),{});t(type,'X',(c.Context,),{});t(type,'X',(c.Token,),{})
import collections.abc as ca;print(isinstance(ctx,ca.Mapping),ca.Mapping.register)if 0 else print(isinstance(ctx,ca.Mapping))
Q=_queue.SimpleQueue;print(Q,_queue.Empty,_queue.Empty.__module__,_queue.Empty.__mro__[1]);q=Q();print(q.empty(),q.qsize());t(q.get_nowait);t(q.get,False);t(q.get,True,0.01);t(q.get,timeout=0.01);t(q.get,timeout=-1);t(q.get,True,-1);t(q.get,False,-1);t(q.put,1);t(q.put,2,False);t(q.put,3,True,5);t(q.put,4,timeout=None);t(q.put_nowait,5);print(q.qsize(),q.empty(),[q.get() for _ in range(5)]);t(q.put);t(q.get,1,2,3);t(q.get,timeout='x');t(Q,1);t(q.put,1,x=2);q.get;t(lambda:Q[int]);t(setattr,q,'x',1)
class SQ(Q): pass
s=SQ();s.x=1;s.put(5);print(s.get(),s.x)
res=[]
q=Q()
th=threading.Thread(target=lambda:res.append(q.get()));th.start();q.put('hi');th.join();print(res)
t(q.get,timeout=1e20)
n=_statistics._normal_dist_inv_cdf;t(n,0.5,0,1);t(n,0.025,10,2);t(n,1e-300,0,1);t(n,0.975,0,1);t(n,0.0,0,1);t(n,1.0,0,1);t(n,0.3,0,-1);t(n,0.5,0);t(n,'x',0,1);t(n,2,0,1);t(n,0.5,0,0);t(n,1e-10,0,1);t(n,float('nan'),0,1)
t(_typing._idfunc,5);t(_typing._idfunc);print(_typing._idfunc)

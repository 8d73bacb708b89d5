import builtins, re
def print(*a, **k): builtins.print(*[re.sub('0x[0-9a-f]{6,}', 'ADDR', str(x)) for x in a], **k)
import pickle,_pickle,io,sys
def t(fn,*a,**k):
    try: print(repr(fn(*a,**k)))
    except BaseException as e: print(type(e).__name__, e)
P,U=_pickle.Pickler,_pickle.Unpickler
t(P);t(P,5);t(P,io.BytesIO(),9);t(P,io.BytesIO(),'x');t(P,io.BytesIO(),4,buffer_callback=1);t(P,io.BytesIO(),-1);t(P,io.BytesIO(),protocol=None,fix_imports=1,buffer_callback=None);t(P,io.BytesIO(),1,True,None,5);t(P,io.BytesIO(),x=1)
t(U);t(U,5);t(U,io.BytesIO(),encoding=5);t(U,io.BytesIO(),buffers=5);t(U,io.BytesIO(),1);t(U,io.BytesIO(),errors='x',fix_imports=0)
p=P(io.BytesIO());print(p.bin,p.fast,p.memo);t(lambda:p.persistent_id);t(lambda:p.dispatch_table);p.bin=0;p.fast=5;print(p.bin,p.fast);t(setattr,p,'fast','x');t(setattr,p,'x',1);t(setattr,p,'memo',5);t(setattr,p,'memo',{1:2});t(setattr,p,'memo',{1:('a',2)});t(setattr,p,'memo',{1:(3,'zz')});t(delattr,p,'memo');t(delattr,p,'persistent_id');t(setattr,p,'persistent_id',5);p.persistent_id=lambda o:None;p.clear_memo();print(p.memo.copy(),type(p.memo),p.memo.__reduce__());t(delattr,p,'dispatch_table');p.dispatch_table={};del p.dispatch_table;t(p.dump);t(p.dump,1,2)
t(hash,p.memo); t(delattr,p,'bin'); t(delattr,p,'fast')
u=U(io.BytesIO(b'N.'));print(u.memo,u.memo.copy());t(lambda:u.persistent_load);t(setattr,u,'memo',5);t(setattr,u,'memo',{'a':1});t(setattr,u,'memo',{-1:1});u.memo.clear();print(u.memo.copy());t(u.find_class,'os','getcwd');t(u.find_class,'nope_m','x');t(u.find_class);t(u.load);t(u.load);t(setattr,u,'persistent_load',5);t(u.load,1);t(setattr,u,'x',1)
class SP(P):
    def __init__(self): pass
class SU(U):
    def __init__(self): pass
t(SP().dump,1);t(SU().load)
t(pickle.dumps);t(pickle.dumps,1,9);t(pickle.dumps,1,protocol=-1);t(pickle.dumps,1,2,fix_imports=0);t(pickle.dumps,1,2,3);t(pickle.dumps,1,4,buffer_callback=print);t(pickle.loads);t(pickle.loads,'x');t(pickle.loads,b'N.',1);t(pickle.loads,b'N.',x=1);t(pickle.loads,bytearray(b'N.'));t(pickle.loads,memoryview(b'N.xx'));t(pickle.dump,1);t(pickle.dump,1,5);t(pickle.load);t(pickle.load,5);t(pickle.loads,data=b'N.')
B=pickle.PickleBuffer
t(B);t(B,5);t(B,b'a',1);b=B(b'abc');print(b,type(b),sorted(set(dir(B))-set(dir(object))),memoryview(b).tobytes(),b.raw(),b.raw().readonly);b.release();t(b.raw);t(memoryview,b);b.release()
for pr in range(6):
    t(pickle.dumps,B(b'abc'),pr);t(pickle.dumps,B(bytearray(b'abc')),pr)
t(pickle.dumps,B(memoryview(b'abcd')[::2]),5)
L=[];s=pickle.dumps([B(b'abc'),B(bytearray(b'xyz'))],5,buffer_callback=L.append);print(s,L);t(pickle.loads,s);t(pickle.loads,s,buffers=L);t(pickle.loads,s,buffers=[b'1']);t(pickle.loads,s,buffers=[b'1',b'2']);t(pickle.loads,s,buffers=[1,2]);t(pickle.loads,s,buffers=[bytearray(b'1'),memoryview(b'2')]);t(pickle.dumps,B(b'abc'),5,buffer_callback=lambda x:True);t(pickle.dumps,B(bytearray(b'abc')),5,buffer_callback=lambda x:1/0);t(pickle.loads,s,buffers=None);t(pickle.loads,s,buffers=5)
class R:
    def __init__(s,v): s.v=v
    def __reduce__(s): return s.v
for v in (5,(),(int,),(int,()),(1,()),(int,[]),(int,(),{},1),(int,(),None,None,1),(int,(),None,None,None,1),(int,(),None,None,None,None,None),(list,(),None,iter([1,2])),(dict,(),None,None,iter([(1,2)])),(dict,(),None,None,iter([1])),(R,(1,),{'a':1}),(R,(1,),{'a':1},None,None,setattr),"R","nope","R.__init__",b"x",None,(int,('x',))):
    for pr in (0,2,4): t(pickle.dumps,R(v),pr)
import copyreg
for a in ((),(1,),(int,),(R,),(R,1)):
    for pr in (0,2,4): t(pickle.dumps,R((copyreg.__newobj__,a)),pr)
for a in ((),(1,),(int,(),{}),(R,(),{}),(R,(1,),{}),(R,1,{}),(R,(),1),(1,(),{})):
    for pr in (0,2,4): t(pickle.dumps,R((copyreg.__newobj_ex__,a)),pr)
copyreg.add_extension('__main__','R',0xf0)
for pr in range(5): t(pickle.dumps,R,pr)
copyreg.remove_extension('__main__','R',0xf0);copyreg.add_extension('__main__','R',0xff0)
t(pickle.dumps,R,2);print(pickle.loads(pickle.dumps(R,2)));copyreg.remove_extension('__main__','R',0xff0);copyreg.add_extension('__main__','R',0xff00000);t(pickle.dumps,R,2);copyreg.remove_extension('__main__','R',0xff00000)
class PP(P):
    def persistent_id(self,o): return 'id%s'%o if isinstance(o,int) else None
class PU(U):
    def persistent_load(self,i): return ('L',i)
for pr in range(5):
    f=io.BytesIO();PP(f,pr).dump([1,'x']);print(f.getvalue());f.seek(0);t(PU(f).load);f.seek(0);t(U(f).load)
class PX(P):
    def persistent_id(self,o): return '\xe9\n' if o==1 else None
t(lambda:PX(io.BytesIO(),0).dump(1)); t(lambda:PX(io.BytesIO(),1).dump(1))
class RO(P):
    def reducer_override(self,o):
        if o is R: return int,(5,)
        if isinstance(o,R): return "R"
        return NotImplemented
f=io.BytesIO();t(RO(f,4).dump,[R,R(1),str]);print(f.getvalue())
class DT(P):
    dispatch_table={R:lambda o:(int,(7,)),complex:lambda o:"zz"}
f=io.BytesIO();t(DT(f,4).dump,[R(1)]);print(f.getvalue())
f=io.BytesIO();p=P(f,2);x=[1];p.dump(x);p.dump(x);print(f.getvalue(),{k:v for k,v in p.memo.copy().items()}.values());f.seek(0);u=U(f);a=u.load();b=u.load();print(a is b);p.clear_memo();p.dump(x)
f=io.BytesIO();p=P(f,2);p.fast=True;p.dump([x,x]);print(f.getvalue());r=[];r.append(r)
try: p.dump(r)
except ValueError as e: print(str(e).split(' at ')[0])
x=[]
for i in range(100000): x=[x]
try: pickle.dumps(x)
except RecursionError as e: print(e)
big=pickle.dumps([b'a'*70000,'b'*70000,list(range(30000))],4);print(len(big),big[:30],big[70010:70050],__import__('hashlib').md5(big).hexdigest())
class W:
    def __init__(s): s.n=[]
    def write(s,b): s.n.append((type(b).__name__,len(b)))
for pr in (1,4,5):
    w=W();pickle.dump([b'a'*70000,'b'*70000,list(range(30000)),bytearray(70000),'q'*100],w,pr);print(w.n)
class NR:
    __reduce_ex__=None
t(pickle.dumps,NR())
class GA:
    def __getattr__(s,n): raise OSError(n)
t(pickle.dumps,GA())
def loc():
    class L: pass
    return L
for pr in (0,2,4): t(pickle.dumps,loc(),pr);t(pickle.dumps,loc()(),pr)
class N:
    class M:
        class O: pass
        def meth(self): pass
for pr in range(6): t(pickle.dumps,N.M.O,pr);t(pickle.dumps,N.M.meth,pr)
print([pickle.loads(pickle.dumps(N.M.O,pr)) is N.M.O for pr in range(6)])
fake=type('Fake',(),{});fake.__module__='nope_mod';t(pickle.dumps,fake);fake.__module__='os';t(pickle.dumps,fake);fake.__qualname__='h\xe9';globals()['h\xe9']=fake;fake.__module__='__main__';t(pickle.dumps,fake,2);t(pickle.dumps,fake,3);R2=R;
for pr in (0,2,3): t(pickle.dumps,range(2),pr); t(pickle.dumps,map,pr); t(pickle.dumps,__import__('collections').UserList,pr); t(pickle.dumps,sys.intern,pr,fix_imports=False)
for c in (b'c__builtin__\nxrange\n.',b'cUserList\nUserList\n.',b'cexceptions\nStandardError\n.',b'\x80\x03c__builtin__\nxrange\n.'): t(pickle.loads,c);t(pickle.loads,c,fix_imports=False)
for enc in ('ASCII','latin1','bytes','utf-8','nope'): t(pickle.loads,b"S'\\xe9'\n.",encoding=enc);t(pickle.loads,b"U\x01\xe9.",encoding=enc,errors='replace')
print(sys.getsizeof(P(io.BytesIO()))>0, pickle.loads(b'\x80\x02cbuiltins\nset\n]\x85R.'))
class SL:
    __slots__='a','b'
s=SL();s.a=1
for pr in (2,3,4): print(pickle.dumps(s,pr))
class St:
    def __setstate__(s,x): s.got=x
    def __getstate__(s): return 0
print(pickle.loads(pickle.dumps(St())).__dict__)

import builtins, re
def print(*a, **k): builtins.print(*[re.sub('0x[0-9a-f]{6,}', 'ADDR', str(x)) for x in a], **k)
import array, sys, io, pickle, copy
from array import array as A
def t(f,*a,**k):
    try: print(repr(f(*a,**k)))
    except BaseException as e: print(type(e).__name__, e)
print(array.typecodes, array.ArrayType is A, A.__mro__, A.__module__, sorted(x for x in dir(A)))
for c in array.typecodes:
    a=A(c); print(c,a,a.itemsize,a.typecode,repr(memoryview(a).format), a.__sizeof__()>0, pickle.dumps(a,2), a.__reduce_ex__(2), a.__reduce_ex__(3))
for c in 'bBhHiIlLqQfd':
    for v in (0,1,-1,127,128,255,256,-128,-129,2**15,2**16,-2**15-1,2**31,-2**31-1,2**32,2**63,-2**63-1,2**64,10**30,1.5,'x',None,b'a'):
        print(c,v,end=' '); t(A,c,[v])
t(A);t(A,1);t(A,'bb');t(A,'z');t(A,b'b');t(A,'b',1);t(A,'b','abc');t(A,'u','abc');t(A,'u',['a','b']);t(A,'u',['ab']);t(A,'u',[1]);t(A,'b',b'abc');t(A,'i',b'abc');t(A,'b',bytearray(b'ab'));t(A,'i',A('b',[1,2]));t(A,'f',A('i',[1]));t(A,'i',A('u','x'));t(A,'u',A('u','x'));t(A,'u',A('b',[1]));t(A,'b',[1],2);t(A,'b',initializer=1);t(A,'i',range(3));t(A,'i',(1,2));t(A,'i',memoryview(b'ab'));t(A,'d',[1,True,2.5])
a=A('i',range(5))
for i in (0,-1,4,5,-5,-6,slice(1,3),slice(None,None,-1),slice(None,None,2),'x',1.0,None,2**70,(1,)): t(a.__getitem__,i); t(lambda:a[i])
def st(i,v):
    b=A('i',range(5))
    def f():
        b[i]=v; return b
    t(f)
def dl(i):
    b=A('i',range(5))
    def f():
        del b[i]; return b
    t(f)
for i in (0,-1,5,-6,'x',None,2**70): st(i,9); dl(i); st(i,'x')
for s in (slice(1,3),slice(None),slice(0,0),slice(4,1),slice(None,None,2),slice(None,None,-1),slice(1,None,3),slice(10,20)):
    dl(s)
    for v in (A('i'),A('i',[7]),A('i',[7,8]),A('i',[7,8,9]),A('i',[1,2,3,4,5]),A('b',[1]),[1],5): st(s,v)
t(a.append,'x');t(a.append);t(a.append,1,2);t(a.append,2**40);b=A('i',a);t(b.append,3);print(b)
t(b.insert,0,5);t(b.insert,-1,6);t(b.insert,100,7);t(b.insert,-100,8);t(b.insert,'a',1);t(b.insert,1);t(b.insert,1,'x');print(b)
t(b.pop);t(b.pop,0);t(b.pop,-1);t(b.pop,100);t(b.pop,'x');t(A('i').pop);print(b)
t(b.remove,3);t(b.remove,99);t(b.remove);t(b.count,3);t(b.count,'x');t(b.index,3);t(b.index,99);t(b.index,4,1);t(b.index,4,-1);t(b.index,4,0,-1);t(b.index,4,-100,100);t(b.index,'x');t(b.index);t(b.index,4,'x');print(b)
t(b.extend,[1,2]);t(b.extend,A('i',[3]));t(b.extend,A('b',[3]));t(b.extend,5);t(b.extend,['x']);t(b.extend,b);print(b)
t(b.fromlist,[1]);t(b.fromlist,(1,));t(b.fromlist,[1,'x']);print(b);t(b.tolist);t(b.reverse);print(b);t(b.byteswap);print(b);t(A('d',[1.5]).byteswap);c=A('d',[1.5]);c.byteswap();print(c);t(A('u','a').byteswap)
t(b.tobytes);t(b.frombytes,b'abcd');t(b.frombytes,b'abc');t(b.frombytes,'x');t(b.frombytes,A('i',[1]));t(b.frombytes,bytearray(4));print(b);t(b.frombytes)
f=io.BytesIO();t(b.tofile,f);print(f.getvalue());f.seek(0);d=A('i');t(d.fromfile,f,3);print(d);t(d.fromfile,f,100);print(d);t(d.fromfile,f,-1);t(d.fromfile,f,1);t(d.fromfile,5,1);t(d.tofile,5);t(d.fromfile,io.StringIO('aaaaaaaaaa'),1)
t(b.tounicode);t(b.fromunicode,'x');u=A('u','héllo');t(u.tounicode);t(u.fromunicode,'\U0001F600');t(u.fromunicode,5);print(u,u.tobytes());t(u.append,'x');t(u.append,'xy');t(u.append,1);t(u.append,b'x');u.frombytes(b'\xff\xff\xff\x7f');t(repr,u);t(u.tounicode);t(u.tolist);t(lambda:u[-1])
t(b.buffer_info.__call__)if 0 else None
print(b.buffer_info()[1]);t(b.buffer_info,1)
x=A('i',[1,2,3]);y=A('i',[1,2,4]);z=A('d',[1,2,3])
import operator as o
for f in (o.eq,o.ne,o.lt,o.le,o.gt,o.ge,o.add,o.iadd,o.mul,o.imul,o.contains):
    for p,q in ((x,y),(x,x),(x,z),(x,[1,2,3]),(x,3),(x,A('i',[1,2])),(x,-1),(x,'a'),(x,2.5),(3,x)): t(f,copy.copy(p),q)
t(hash,x);print(copy.copy(x),copy.deepcopy(x),x==copy.deepcopy(x),bool(A('i')),bool(x),len(x),list(reversed(x)),3 in x,'a' in x,max(x))
it=iter(x);print(type(it),next(it),it.__reduce__());it.__setstate__(0);print(list(it));t(next,it);print(it.__reduce__());t(it.__setstate__,'x')
for p in range(6):
    for c in 'bBuhHiIlLqQfd':
        q=A(c,'ab' if c=='u' else [1,2]); print(p,c,pickle.loads(pickle.dumps(q,p))==q)
class S(A):
    def __init__(self,*a): self.n=1
s=S('i',[1,2]);s.x=5;print(s,s.__dict__,repr(s),type(s[:1]),type(s+s),type(s*2),type(copy.copy(s)),pickle.loads(pickle.dumps(s)).__dict__,s.__reduce_ex__(3))
class R(A): __slots__=()
print(R('b',[1]), isinstance(R('b'),A))
from array import _array_reconstructor as ar
t(ar,A,'i',8,b'\1\0\0\0');t(ar,A,'i',9,b'\0\0\0\1');t(ar,A,'b',1,b'\xff');t(ar,A,'H',3,b'\1\2');t(ar,A,'d',16,b'\0'*8);t(ar,A,'d',17,b'?\xf0'+b'\0'*6);t(ar,A,'f',14,b'\0\0\x80?');t(ar,A,'u',18,b'a\0');t(ar,A,'u',20,b'a\0\0\0');t(ar,A,'u',21,b'\0\0\0a');t(ar,A,'q',12,b'\xff'*8);t(ar,A,'l',8,b'\xff'*4);t(ar,A,'i',13,b'\0'*7+b'\5');t(ar,A,'z',1,b'');t(ar,A,'b',22,b'');t(ar,A,'b',-1,b'');t(ar,int,'b',1,b'');t(ar,5,'b',1,b'');t(ar,A,'b','x',b'');t(ar,A,'b',1,'x');t(ar,A,'i',8,b'abc');t(ar,A,'bb',1,b'');t(ar)
m=memoryview(x);print(m.format,m.itemsize,m.shape,m.readonly,m.tolist(),m.tobytes());m[0]=77;print(x);t(x.append,1);t(x.extend,[1]);t(x.pop);t(x.frombytes,b'abcd');t(x.__imul__,2);t(x.__imul__,1);x[0]=5;t(x.__setitem__,slice(0,1),A('i',[1,2]));t(x.__setitem__,slice(0,1),A('i',[3]));t(x.__delitem__,0);m.release();x.append(9);print(x)
print(bytes(x),bytearray(x)[:4],b'x'+x if 0 else '',sum(x),sorted(x),str(x))
t(setattr,A,'x',1);t(setattr,x,'y',1);t(setattr,x,'typecode','b');t(lambda:A('i').__iadd__([1]));t(lambda:A('i')+[1])
import collections.abc as ca;print(isinstance(x,ca.MutableSequence))
x=A('b',range(10))
it=iter(x)
x.append(5);print(len(list(it)));x.append(3);print(list(it))
t(A('i',[1,2,3]).__mul__,2**60); t(lambda:A('b',[1])*'x'); t(x.__copy__); t(x.__deepcopy__,None)
t(A,'i',iter([1,'x'])); t(A('i').fromlist,[1,2,3][:0])
t(lambda: A('f',[1e40])); t(lambda: A('f',[0.1])[0]); t(A,'b',[True]); t(eval, "A('i',(i for i in [1,2]))", dict(A=A))

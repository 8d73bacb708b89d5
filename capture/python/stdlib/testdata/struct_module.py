import struct, array
def t(f,*a,**k):
    try: print(repr(f(*a,**k)))
    except BaseException as e: print(type(e).__name__, e)
import sys
for p in '@<':
  for c in 'bBhHiIlLqQnNP':
    if p=='<' and c in 'nNP': continue
    for v in (10**30,-10**30,2**63,2**64-1,-2**63-1,-1,2**31,2**32,-2**31-1,70000,-70000,'x',1.5,None):
        print(p,c,v,end=' '); t(struct.pack,p+c,v)
t(struct.pack,'c','a');t(struct.pack,'c',b'ab');t(struct.pack,'s','a');t(struct.pack,'p',1);t(struct.pack,'s',bytearray(b'x'));t(struct.pack,'s',memoryview(b'x'))
for p in '@<>':
  for c in 'efd':
    for v in (1e308,'x',None,10**400,65520.0,float('nan'),-0.0, 1e-40,6e-8,3e-8,2.98e-8): print(p,c,v,end=' '); t(struct.pack,p+c,v)
t(struct.pack);t(struct.pack,1);t(struct.pack,'i');t(struct.pack,'i',1,2);t(struct.pack,'ii',1);t(struct.pack,'z');t(struct.pack,'3');t(struct.pack,'\0');t(struct.pack,'i\0');t(struct.pack,'é')
t(struct.calcsize,'99999999999999999999s');t(struct.calcsize,'9223372036854775807s');t(struct.calcsize,'9223372036854775807ss');t(struct.calcsize,'9223372036854775807i')
t(struct.calcsize);t(struct.calcsize,'i','i');t(struct.unpack,'i');t(struct.unpack,'i',b'');t(struct.unpack,'i','x');t(struct.unpack,'i',5)
s=struct.Struct('>ih')
t(s.unpack,b'123');t(s.unpack);t(s.unpack_from);t(s.unpack_from,b'123');t(s.unpack_from,b'1234567',2);t(s.unpack_from,b'1234567',-8);t(s.unpack_from,b'1234567',-3);t(s.unpack_from,b'1234567',100);t(s.unpack_from,b'1234567',offset='a');t(s.unpack_from,buffer=b'1234567',offset=1)
t(s.pack_into);t(s.pack_into,bytearray(10));t(s.pack_into,bytearray(10),0,1);t(s.pack_into,bytearray(3),0,1,2);t(s.pack_into,bytearray(10),9,1,2);t(s.pack_into,bytearray(10),-3,1,2);t(s.pack_into,bytearray(10),-30,1,2);t(s.pack_into,b'xxx',0,1,2);t(s.pack_into,bytearray(10),'a',1,2);t(s.pack_into,bytearray(10),2**70,1,2);t(s.pack_into,[],0,1,2)
t(struct.pack_into);t(struct.pack_into,'i');t(struct.pack_into,'i',bytearray(1));t(struct.unpack_from,'i');t(struct.unpack_from,'i',b'1234',offset=0);t(struct.unpack_from,format='i',buffer=b'1234');t(struct.iter_unpack,'i');t(struct.iter_unpack,'i',b'123');t(struct.iter_unpack,'',b'');t(struct.iter_unpack,'i','xx')
it=struct.iter_unpack('i',b'12345678'); print(type(it),it.__length_hint__(),next(it),it.__length_hint__(),list(it)); t(next,it)
t(type(it));t(s.iter_unpack,b'1')
print(s.format, s.size, type(s), s.__sizeof__()); 
t(struct.Struct);t(struct.Struct,1);t(struct.Struct,'i','i');t(setattr,s,'format','x');t(setattr,s,'x',1)
class S(struct.Struct): pass
x=S('i'); x.y=2; print(x.y)
t(S);print(struct.error, struct.error.__mro__, struct.__doc__[:40])
t(s.__init__,'bad');t(s.__init__,'i');print(s.size)
import pickle,copy
t(pickle.dumps,s);t(copy.copy,s)
class I:
    def __index__(self): return 7
class B:
    def __index__(self): raise OSError('x')
    def __float__(self): raise OSError('f')
    def __bool__(self): raise OSError('b')
t(struct.pack,'i',I());t(struct.pack,'i',B());t(struct.pack,'f',B());t(struct.pack,'f',I());t(struct.pack,'?',B());t(struct.pack,'<?',[1]);t(struct.pack,'P',-1);t(struct.pack,'P',I());t(struct.unpack,'P',b'\xff'*8)
t(struct.pack,'5p',b'abcdefgh');t(struct.pack,'0p',b'ab');t(struct.pack,'300p',b'a'*299);t(struct.unpack,'5p',b'\x09abcd');t(struct.pack,'0s',b'a');t(struct.pack,'3s',b'a')
t(struct.pack,'xbxhxi',1,2,3);t(struct.pack,'b0i',1);t(struct.pack,'<b0i',1);t(struct.pack,' 2 b'.replace(' 2 ',' 2'),1,2);t(struct.calcsize,' < i');t(struct.calcsize,'i 4');t(struct.calcsize,'')
t(struct.Struct('i').__eq__,1); t(struct.Struct('i').pack, a=1); t(struct.unpack,'i',b'1234',3); t(struct.pack,'i',a=1)
t(struct.pack,b'i',3); t(struct.pack,'0c'); t(struct.pack,'0c',b'a')

import builtins, re
def print(*a, **k): builtins.print(*[re.sub('0x[0-9a-f]{6,}', 'ADDR', str(x)) for x in a], **k)
import json, _json, io
from json import decoder, encoder, scanner
def t(f,*a,**k):
    try: print(repr(f(*a,**k)))
    except BaseException as e: print(type(e).__name__, e)
ss=_json.scanstring
for a in [('"abc"',1),('abc"def',0),('"a',1),('"a\nb"',1),('"a\nb"',1,False),('"\\u12"',1),('"\\u1234"',1),('"\\ud834\\udd20x"',1),('"\\ud834x"',1),('"\\ud834\\u0041"',1),('"\\x"',1),('"\\',1),('"\\u123z"',1),('"\\"\\\\\\/\\b\\f\\n\\r\\t"',1),('"\x00"',1),('é"',0),('abc',5),('abc"',-1),('"\\u',1),('"\\ud834\\u12"',1),('"\\ud834\\u12zz"',1),('\U0001F600x"',0),('',0),('"',1)]: t(ss,*a)
t(ss);t(ss,'"');t(ss,b'"a"',1);t(ss,'"a"','x');t(ss,'"a"',1,2,3);t(ss,'"a"',end=1)
for f in (_json.encode_basestring,_json.encode_basestring_ascii):
    for x in ('abc','"\\/\b\f\n\r\t','\x00\x1f\x7f\x80','é\u1234\U0001F600\ud800','',b'x',5,None): t(f,x)
    t(f);t(f,'a','b')
class S(str): pass
t(_json.encode_basestring,S('x'))
L=json.loads
for s in ['','{','[','[1','[1,','[1,]','{"a"','{"a":','{"a":1','{"a":1,','{"a":1,}','{1:2}','{"a" 1}','nul','null','true','false','NaN','Infinity','-Infinity','-','-1','01','1.','1.5','1e5','1E+5','1e','-0','-0.0','1.0e10','123456789012345678901234567890','"abc"','"a','[]','{}','[ ]','{ }',' [1 , 2] ','{"a":1,"a":2}','[1 2]','1 2','"\\x"','"\\u12"','\ufeff1','[1,2','{"a":1 "b":2}','tru','fals','-Inf','Inf','nan','[,1]','{,}','[1,,2]',"{'a':1}",'\x0b1','1\x0b','"\x01"','[[[]]]','{"a":{"b":[1,{"c":null}]}}','--1','1-','+1','.5','0x1','1_0','1'*400+'.5']:
    print(s[:30],end=' ');t(L,s)
t(L,5);t(L,b'[1]');t(L,bytearray(b'{"a":1}'));t(L,'[1]'.encode('utf-16'));t(L,'[1]'.encode('utf-32-be'));t(L,None);t(L,b'\xff')
t(L,'[1.5,2,NaN,"x"]',parse_float=lambda s:('f',s),parse_int=lambda s:('i',s),parse_constant=lambda s:('c',s));t(L,'{"a":1,"b":{"c":2}}',object_hook=lambda d:sorted(d.items()));t(L,'{"a":1,"b":{"c":2}}',object_pairs_hook=tuple);t(L,'{}',object_pairs_hook=list);t(L,'{}',object_hook=list);t(L,'"a\nb"',strict=False);t(L,'{"a":1,"a":2}',object_pairs_hook=list,object_hook=5);t(L,'[1.5]',parse_float=__import__('decimal').Decimal)
t(L,'1.5',parse_float=5);t(L,'[1]',cls=json.JSONDecoder);t(L,'[1]',bogus=1)
d=json.JSONDecoder();t(d.raw_decode,'[1] x');t(d.raw_decode,'  1');t(d.raw_decode,'x [1]',2);t(d.raw_decode,'1',5);t(d.raw_decode,'1',-1);t(d.scan_once,'[1]',0);t(d.scan_once,'[1]',5);t(d.scan_once,'[1]',-1);t(d.scan_once,b'[1]',0);t(d.scan_once,'[1]');s=d.scan_once;print(s.strict,s.object_hook,s.object_pairs_hook,s.parse_float,s.parse_int,s.parse_constant.__name__,type(s));t(setattr,s,'strict',0);t(_json.make_scanner,5);t(_json.make_scanner)
try: L('['*100000)
except RecursionError as e: print(e)
try: L('{"a":'*100000)
except RecursionError as e: print(e)
D=json.dumps
o={'a':[1,2.5,None,True,'x\u1234'],'b':{},'c':[],'d':{'e':()},1:2,None:3,True:4,1.5:5,'z':float('inf')}
for k in ({},{'indent':2},{'indent':'\t'},{'indent':0},{'separators':(',',':')},{'ensure_ascii':False},{'indent':1,'separators':(';','=')},{'skipkeys':True},{'allow_nan':False},{'check_circular':False},{'default':str}): t(D,o,**k)
t(D,{'b':1,'a':2},sort_keys=True);t(D,{1:1,'a':2},sort_keys=True);t(D,{(1,):1});t(D,{(1,):1},skipkeys=True);t(D,{b'x':1});t(D,object());t(D,{1,2});t(D,[object()],default=lambda o:'X');t(D,[object()],default=lambda o:o);t(D,b'x');t(D,float('nan'));t(D,float('-inf'),allow_nan=False);t(D,[float('nan')],allow_nan=False);t(D,'\ud800');t(D,1j)
x=[];x.append(x);t(D,x);x={};x['a']=x;t(D,x);
x=[]
for i in range(100000): x=[x]
try: D(x)
except RecursionError as e: print(e)
class F(float):
    def __repr__(s): return 'F!'
class I(int):
    def __repr__(s): return 'I!'
class LL(list): pass
class DD(dict):
    def items(s): return [('q',1),('p',2)]
t(D,[F(1.5),I(3),LL([1]),DD(a=1),S('s')]);t(D,{I(3):1,F(2.5):2,S('k'):3,'':DD()});t(D,DD(),indent=1);t(D,DD(a=1),sort_keys=True)
import enum
class E(enum.IntEnum): A=1
t(D,[E.A]);t(D,{E.A:E.A})
class BD(dict):
    def items(s): return [1,2]
t(D,BD(a=1));t(D,{'a':1},default=5);t(D,10**40);t(D,[1e100,1e16,1e-5,0.1,-0.0]);t(D,{1e100:1})
e=json.JSONEncoder();print(list(e.iterencode([1,{'a':'x'}])),list(e.iterencode('x')),list(json.JSONEncoder(indent=1).iterencode([1,2,{'a':1}])))
c=encoder.c_make_encoder;t(c);m=c(None,e.default,encoder.encode_basestring_ascii,None,': ',', ',False,False,True);t(m,[1,'a'],0);t(m,1);t(c,{},e.default,encoder.encode_basestring_ascii,None,': ',', ',False,False,True);t(c,5,e.default,encoder.encode_basestring_ascii,None,': ',', ',False,False,True);print(type(m),m.markers,m.default==e.default,m.encoder,m.indent,m.key_separator,m.item_separator,m.sort_keys,m.skipkeys);t(setattr,m,'indent',1)
c2=c(None,e.default,lambda s:'<'+s+'>',None,': ',', ',False,False,True);t(c2,['a',{'b':'c'}],0);t(c(None,None,lambda s:5,None,': ',', ',False,False,True),['a'],0)
f=io.StringIO();json.dump([1,{'a':2}],f,indent=1);print(repr(f.getvalue()));print(json.load(io.StringIO('[1]')))
try: L('[1,\n2,\n x]')
except json.JSONDecodeError as e: print(e.msg,e.pos,e.lineno,e.colno,e.doc,repr(e),e.__reduce__())
try: L('["é😀", x]')
except json.JSONDecodeError as e: print(e)
k=L('[{"abc":1},{"abc":2}]');print(list(k[0])[0] is list(k[1])[0])
t(D,{float('nan'):1});t(D,{float('nan'):1},allow_nan=False); t(D,{'a':1},indent=True); t(D,[[],{}],indent=4); t(D,(1,(2,)))

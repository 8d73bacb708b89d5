import builtins, re
def print(*a, **k): builtins.print(*[re.sub('0x[0-9a-f]{6,}', 'ADDR', str(x)) for x in a], **k)
import _csv, csv, io
def t(f,*a,**k):
    try: print(repr(f(*a,**k)))
    except BaseException as e: print(type(e).__name__, e)
D=_csv.Dialect
t(D);t(D,1);t(D,'nope');t(D,delimiter='ab');t(D,delimiter='');t(D,delimiter=None);t(D,delimiter=5);t(D,delimiter=b',');t(D,quotechar='ab');t(D,quotechar='');t(D,quotechar=None);t(D,quotechar=None,quoting=3);t(D,quotechar=5);t(D,escapechar='ab');t(D,escapechar='');t(D,escapechar=5);t(D,lineterminator=None);t(D,lineterminator=5);t(D,quoting=4);t(D,quoting=-1);t(D,quoting='x');t(D,quoting=None);t(D,quoting=3.0);t(D,bogus=1);t(D,doublequote='x');t(D,skipinitialspace=5);t(D,strict=1);t(D,'excel');t(D,csv.excel);t(D,csv.excel());t(D,None,None);t(D,dialect='excel',delimiter='\t');t(D,delimiter='\n')
d=D();print([(n,getattr(d,n)) for n in ('delimiter','doublequote','escapechar','lineterminator','quotechar','quoting','skipinitialspace','strict')]);t(setattr,d,'delimiter',';');t(delattr,d,'quoting');t(setattr,d,'quoting',1);t(setattr,d,'x',1);t(D,d).__class__;print(D(d) is d)
import copy,pickle
t(copy.copy,d);t(pickle.dumps,d)
def rd(lines,*a,**k):
    try: 
        out=[]
        for r in csv.reader(lines,*a,**k): out.append(r)
        print(out)
    except BaseException as e: print(out,type(e).__name__, e)
for s in ['a,b','a,"b"','a,"b""c"','a,"b\nc"','"a','"a"b','a"b','""','','\n','a,\n','a\rb','a\r\nb','a\r','a,b\0c',' a, b','"a" ,b','1,2.5,"x"',"'a',b",'a\\,b','a\\','"a\\"b"','\\"a','"a""','"""a"""',',,',' "a"','a\n\n', '"a\r\nb"']:
    for k in ({},{'strict':1},{'quoting':2},{'quoting':3},{'escapechar':'\\'},{'escapechar':'\\','quoting':3},{'doublequote':0},{'doublequote':0,'escapechar':'\\'},{'skipinitialspace':1},{'quotechar':"'"},{'strict':1,'escapechar':'\\'}):
        print(repr(s),k,end=' ');rd([s],**k)
rd(['a"','b']);rd(['"a','b"']);rd(['"a\n','b"\n','c']);rd(['a,"b\r\n','c"\r\n']);rd([b'a']);rd([5]);rd(5);rd(['a','b'],'nope');rd(['a;b'],delimiter=';');rd(['a\tb'],'excel-tab');rd(['a\\'],escapechar='\\');rd(['a\\\n','b'],escapechar='\\');rd(['"a\\\n','b"'],escapechar='\\');rd(['a\nb']);rd(['1,x'],quoting=2)
r=csv.reader(['a','"b\n','c"','d']);print(type(r),r.line_num,next(r),r.line_num,next(r),r.line_num,r.dialect,r.dialect.delimiter);t(setattr,r,'line_num',5);t(delattr,r,'dialect');t(type(r));print(iter(r) is r)
t(csv.reader);t(csv.reader,5);t(csv.reader,[],'excel','x');t(csv.reader,[],bogus=1);t(csv.field_size_limit);t(csv.field_size_limit,5);rd(['aaaaa']);rd(['aaaaaa']);t(csv.field_size_limit,'x');t(csv.field_size_limit,None);t(csv.field_size_limit,1,2);t(csv.field_size_limit,limit=3);t(csv.field_size_limit,131072);t(csv.field_size_limit,-1);t(csv.field_size_limit,131072);t(csv.field_size_limit,2**70);
def wr(rows,*a,**k):
    f=io.StringIO(newline='')
    try:
        w=csv.writer(f,*a,**k); 
        for r in rows: w.writerow(r)
        print(repr(f.getvalue()))
    except BaseException as e: print(repr(f.getvalue()),type(e).__name__, e)
rows=[['a'],['a','b'],[''],[],['',''],['a,b'],['a"b'],["a'b"],['a\nb'],['a\rb'],[None],[None,None],[1,2.5],[1,'x',2.5,None,True],[' a'],['a\\b'],['a\\"b'],['"'],['""'],[1.0000000001],[b'x'],['a b'],['a;b'],['\\'],['a\0b'],['\n']]
for row in rows:
    for k in ({},{'quoting':1},{'quoting':2},{'quoting':3},{'quoting':3,'escapechar':'\\'},{'escapechar':'\\'},{'doublequote':0},{'doublequote':0,'escapechar':'\\'},{'quotechar':None,'quoting':3},{'lineterminator':'!'},{'delimiter':';'},{'quotechar':"'"},{'quotechar':None,'quoting':3,'escapechar':'\\'},{'escapechar':'"','quotechar':"'"},{'lineterminator':'\n','quoting':3,'escapechar':'\\'}):
        print(row,k,end=' ');wr([row],**k)
wr([5]);wr([None]);wr(['abc']);wr([iter('ab')]);wr([(x for x in [1,2])]);wr([{1:2}])
class B:
    def __str__(s): raise OSError('str')
class I:
    def __iter__(s): raise OSError('it')
wr([[B()]]);wr([I()]);wr([[1,B()]]);t(csv.writer);t(csv.writer,5);w=csv.writer(io.StringIO());print(type(w),w.dialect.delimiter,w.writerow(['a','b']));t(w.writerows,[['a'],['b']]);t(w.writerows,5);t(w.writerows,[5]);t(w.writerow);t(w.writerow,1,2);t(type(w));t(setattr,w,'dialect',1)
class F:
    def write(s,x): return ('w',x)
w=csv.writer(F());print(w.writerow([1]),w.writerows([[1],[2]]))
class F2:
    write=5
t(csv.writer,F2())
t(csv.register_dialect,'x');print(csv.get_dialect('x').delimiter);t(csv.register_dialect,'y',delimiter=';');print(csv.list_dialects()[-2:],csv.get_dialect('y').delimiter);t(csv.register_dialect,5);t(csv.register_dialect);t(csv.register_dialect,'z',csv.excel,quoting=3);t(csv.register_dialect,'z','excel');t(csv.register_dialect,'q',bogus=1);t(csv.register_dialect,'q',5);t(csv.unregister_dialect,'x');t(csv.unregister_dialect,'x');t(csv.unregister_dialect);t(csv.get_dialect);t(csv.get_dialect,'x');t(csv.get_dialect,5);t(csv.unregister_dialect,'y');t(csv.unregister_dialect,'z');print(csv.list_dialects());t(csv.list_dialects,1)
class ED(csv.Dialect): delimiter='xx';quotechar='"';doublequote=1;skipinitialspace=0;lineterminator='\n';quoting=0
t(ED);ED.delimiter=';';t(lambda:ED().delimiter);t(csv.reader,[],ED);rd(['a;b'],ED);rd(['a;b'],ED,delimiter='b')
s=csv.Sniffer();print(s.sniff('a;b;c\n1;2;3\n4;5;6\n').delimiter,s.has_header('a,b\n1,2\n3,4\n'))
print(list(csv.DictReader(['a,b','1,2','3'])))
f=io.StringIO();w=csv.DictWriter(f,['a','b']);w.writeheader();w.writerow({'a':1,'b':2});t(w.writerow,{'c':1});print(repr(f.getvalue()))

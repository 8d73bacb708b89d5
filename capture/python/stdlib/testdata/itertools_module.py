import builtins, re
def print(*a, **k): builtins.print(*[re.sub('0x[0-9a-f]{6,}', 'ADDR', str(x)) for x in a], **k)
import itertools as I, operator, copy, pickle, sys
def t(f,*a,**k):
    try: print(repr(f(*a,**k)))
    except BaseException as e: print(type(e).__name__, e)
def show(x):
    r=repr(x)
    import re
    return re.sub(r'0x[0-9a-f]+','ADDR',r)
for n in ('accumulate','chain','combinations','combinations_with_replacement','compress','count','cycle','dropwhile','filterfalse','groupby','islice','pairwise','permutations','product','repeat','starmap','takewhile','tee','zip_longest'):
    f=getattr(I,n); print(n,f,'')
    for a in ((),(1,),(1,2),(1,2,3),(1,2,3,4),(1,2,3,4,5),('abc',),('abc',2),('abc',-1),('abc','x'),('abc',None),('abc',1.5),([1,2],[3]),(len,['a']),(None,[0,1])):
        try: 
            x=f(*a); 
            print(a, show(x) if n in('count','repeat') else type(x).__name__, end='; ')
            if n not in ('count','repeat','cycle'): print(show(list(x))[:150])
            else: print()
        except BaseException as e: print(a,type(e).__name__, e)
    t(f,bogus=1);
    try: f('abc',bogus=1)
    except BaseException as e: print(type(e).__name__, e)
its={'acc':lambda:I.accumulate([1,2,3]),'acc2':lambda:I.accumulate([1,2,3],operator.mul),'acci':lambda:I.accumulate([1,2,3],initial=10),'accn':lambda:I.accumulate([None,None],lambda a,b:None),'chain':lambda:I.chain('ab','cd'),'chainfi':lambda:I.chain.from_iterable(['ab','cd']),'comb':lambda:I.combinations('abcd',2),'comb0':lambda:I.combinations('abc',0),'combbig':lambda:I.combinations('ab',5),'cwr':lambda:I.combinations_with_replacement('abc',2),'cwr0':lambda:I.combinations_with_replacement('',0),'compress':lambda:I.compress('abcd',[1,0,1,1]),'dw':lambda:I.dropwhile(lambda x:x<3,[1,2,3,4,1]),'tw':lambda:I.takewhile(lambda x:x<3,[1,2,3,4,1]),'ff':lambda:I.filterfalse(None,[0,1,0,2]),'gb':lambda:I.groupby('aabbc'),'isl':lambda:I.islice('abcdefgh',2,7,2),'isl1':lambda:I.islice('abc',2),'isln':lambda:I.islice('abc',None),'pw':lambda:I.pairwise('abcd'),'perm':lambda:I.permutations('abc'),'perm2':lambda:I.permutations('abc',2),'perm0':lambda:I.permutations('abc',0),'permbig':lambda:I.permutations('ab',3),'prod':lambda:I.product('ab',[1,2]),'prod0':lambda:I.product(),'prode':lambda:I.product('ab',''),'prodr':lambda:I.product('ab',repeat=2),'prodr0':lambda:I.product('ab',repeat=0),'rep':lambda:I.repeat('x',3),'sm':lambda:I.starmap(pow,[(2,3),(3,2)]),'zl':lambda:I.zip_longest('abc','x',fillvalue='-'),'zl0':lambda:I.zip_longest(),'tee':lambda:I.tee('abcd')[0]}
for n,mk in its.items():
    full=show(list(mk())) if n!='gb' else [(k,list(g)) for k,g in mk()]
    print(n,full)
    for k in (0,1,2,5,50):
        it=mk()
        try:
            for _ in range(k): next(it)
        except StopIteration: pass
        try:
            r=it.__reduce__(); print(' ',k,show(r)[:300])
            c=copy.copy(it); a=list(c) if n!='gb' else [(k,list(g)) for k,g in c]; print('   ',show(a)[:150])
        except BaseException as e: print(' ',k,type(e).__name__,show(e))
        it=mk()
        for _ in range(min(k,2)):
            next(it,None)
        try:
            for p in (2,4):
                c=pickle.loads(pickle.dumps(it,p)) if n not in('dw','tw','accn') else None
            if c is not None: print('   p',show(list(c) if n!='gb' else [(k,list(g)) for k,g in c])[:150])
        except BaseException as e: print('   p',type(e).__name__,show(e))
    for st in (0,5,(),(1,),(1,2),(1,2,3),(0,0),'x',None,((0,1),(2,1)),[1],((0,1,2),(3,2)),(1,1),([1],1)):
        it=mk()
        try: it.__setstate__(st); print('   s',st,show(list(it) if n not in('gb','cycle','tee') else 0)[:120])
        except BaseException as e: print('   s',st,type(e).__name__,show(e))
c=I.count(10**20);print(next(c),next(c),c,c.__reduce__());c=I.count(sys.maxsize-1);print(next(c),next(c),next(c),c);c=I.count(1.5,.5);print(next(c),next(c),c,c.__reduce__());print(I.count(3),I.count(3,2),I.count(-5),I.count(step=2),I.count(start=4),I.count(0,-1),I.count(1,True),I.count(1.0),I.count(1,1.0));t(I.count,'a');t(I.count,[]);t(I.count,1,'x');c=I.count(2j);print(next(c),next(c),I.count(3,0))
cy=I.cycle('abc');print([next(cy) for _ in range(5)],show(cy.__reduce__()));cy=I.cycle('abc');next(cy);print(show(cy.__reduce__()),[next(copy.copy(cy)) for _ in range(1)]);cy.__setstate__((['x'],1));print([next(cy) for _ in range(5)]);t(cy.__setstate__,());t(cy.__setstate__,(5,1));t(cy.__setstate__,([],'x'));t(next,I.cycle(''))
r=I.repeat(5);print(r,I.repeat('a',2),I.repeat(5,-3),I.repeat(object=1,times=2));t(operator.length_hint,r);t(operator.length_hint,I.repeat(1,5));t(operator.length_hint,r,3);t(I.repeat,1,'x');t(I.repeat,1,None);t(I.repeat,1,2**70)
t(I.islice,'abc',-1);t(I.islice,'abc',1,2,0);t(I.islice,'abc',1,2,-1);t(I.islice,'abc',-1,2);t(I.islice,'abc','a');t(I.islice,'abc',2**70);t(I.islice,'abc',1,'a');t(I.islice,'abc',1,2,'a');t(lambda:list(I.islice('abc',1,None,sys.maxsize)));t(lambda:list(I.islice(I.count(),3,20,5)));x=iter(range(100));list(I.islice(x,3,20,5));print(next(x));x=iter(range(100));list(I.islice(x,0));print(next(x));class_=type('Ix',(),{'__index__':lambda s:2});t(lambda:list(I.islice('abcd',class_())))
a,b=I.tee(range(5));print(next(a),next(a),next(b),list(a),list(b),type(a),show(a.__reduce__()));t(I.tee,'a',-1);t(I.tee,'a',0);t(I.tee,'a',1).__class__;t(I.tee,5);t(I.tee,'a','x');t(I.tee);x=iter('abcdef');a,b=I.tee(x);next(a);c=copy.copy(a);print(list(c),list(b),list(a));t(type(a),5);y=type(a)('abc');print(list(y));print(len(I.tee('ab',3)));t(I._tee_dataobject,1,2,3);t(I._tee_dataobject,iter([]),[1],None);t(I._tee_dataobject,iter([]),[1]*58,None);t(type,'X',(type(a),),{})
a,b=I.tee(range(200)); list(I.islice(a,150)); print(sum(b), next(a)); c=pickle.loads(pickle.dumps(a)); print(next(c))
class R:
    def __iter__(s): return s
    def __next__(s): return next(TT)
TT,_=I.tee(R())
t(next,TT)
g=I.groupby('aab');k,gr=next(g);print(k,next(gr));k2,gr2=next(g);print(list(gr),list(gr2));t(lambda:[(k,list(g)) for k,g in I.groupby([1,3,2,4,5],lambda x:x%2)]);t(lambda:[(k,list(g)) for k,g in I.groupby(iterable='aab',key=str.upper)]);gs=[g for k,g in I.groupby('aabb')];print([list(x) for x in gs],type(gs[0]));t(I._grouper,1,2);t(lambda:list(I.groupby(5)));t(lambda:list(I.groupby('ab',5)))
t(list,I.starmap(pow,[1]));t(list,I.chain(1));t(list,I.chain([1],2));t(list,I.accumulate([1,'a']));t(list,I.accumulate([]));t(list,I.accumulate([],initial=5));t(list,I.accumulate([1],None,initial=None));t(list,I.accumulate('ab',lambda a,b:1/0));t(lambda:list(I.zip_longest('a',5)));t(lambda:I.zip_longest('a',x=1));t(lambda:I.product('a',repeat=-1));t(lambda:I.product('a',x=1));t(lambda:I.product('a',repeat=2**40));t(lambda:I.product('a',repeat='x'))
class S(I.count): pass
s=S(5);s.x=1;print(s,next(s),s.__reduce__(),type(s),s.x);t(S,5,2,3)
class P(I.permutations):
    def __init__(s,*a,**k): s.k=k
t(lambda:list(P('ab')))
class K(I.chain):
    def __init__(self,*a,extra=0): self.extra=extra
t(lambda:(list(K('ab',extra=3)),K('a',extra=4).extra));print(type(K.from_iterable(['a'])),I.chain[int])
t(setattr,I.count(),'x',1);t(setattr,I.count,'x',1);t(I.chain.from_iterable);t(I.chain.from_iterable,5);t(list,I.chain.from_iterable([1]))
def stopper():
    raise StopIteration
print(list(I.starmap(lambda x:stopper(),[(1,)])),list(I.takewhile(lambda x:stopper(),[1])),list(map(lambda x:stopper(),[1])))
p=I.pairwise('ab');t(p.__reduce__);print(sys.getsizeof(I.combinations('abc',2))>0)
print(next(I.combinations(range(10**3),3)), sum(1 for _ in I.permutations(range(6))), sum(1 for _ in I.product(range(10),repeat=3)))

# Case by Unicode's full mappings, and what format says of codes that it does not know.
for s in ['ß','ŉa','ΑΣ','ΣΑΣ Σ','ﬁx','ǆ ab','ᾀb','İI','x1y ßa','日本 ab','ªb','éÉ','ΌΣΟΣ. Σ1','hello wOrld','ⅷ','ꭰ']:
    print(ascii([s.upper(),s.lower(),s.title(),s.capitalize(),s.swapcase(),s.casefold(),s.istitle(),s.isupper(),s.islower()]))
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, ascii(str(e)))
for v in 1, 1.5, 'a':
    for sp in ['é','ß',',1','_x',',x','_n',',n','10,','5_b',',s','9999999999999999999','_,','__',',,','ab','#b', ' ']:
        t(lambda: format(v, sp))
t(lambda: '%c%%' % 2000000)
t(lambda: '%c' % -1); t(lambda:'%c' % 'ab')
l=[1]
def f(i): l[i]=1
def g(i): del l[i]
t(lambda: f(10**30)); t(lambda: g(10**30)); t(lambda: f(5)); t(lambda:f('a')); t(lambda:g(-9))

# The engine of re: matches, spans, groups, errors and their texts as CPython has them.
import re
print(re.split(r'(x)*', 'axbc'), re.split(r'\b', 'a bar'), re.split(r'', 'abc'), re.split(r'(?=o)', 'foo'), re.split(r'[aeiou]?', 'foobar'), re.split('(o)|','foo'))
print(re.findall(r'\w*', 'foo bar'), re.sub(r'x*', '-', 'abxd'), re.sub('', '-', 'abc'), re.findall(r'|\w', 'ab'))
for p, s in [(r'(?:(a)|b)*', 'abab'), (r'(a+)+b', 'aaaaab'), (r'(?P<x>a)(?P=x)', 'aa'), (r'(a)?(?(1)b|c)', 'ab'), (r'(a)?(?(1)b|c)', 'c'), (r'(?<=ab)c', 'abc'), (r'(?<!a)b', 'cb'), (r'(?>a+)ab', 'aaab'), (r'a++b', 'aaab'), (r'(?:ab)++c', 'ababc'), (r'(?:a|ab)*+c','abc'), (r'a{2,3}?', 'aaaa'), (r'(?i)straße', 'STRASSE straße STRAẞE'), (r'(?i)\u0131', 'Iiı'), (r'[^\W\d_]+', 'añb1'), (r'(?s).+', 'a\nb'), (r'(?m)^b$', 'a\nb\nc'), (r'\Ab\Z', 'b'), (r'(.)\1', 'abba'), (r'(?i)(a)\1', 'aA'), (r'((a)|(b))+?c','abc'), (r'(?=(a))(?!b)\w','ab'),(r'(?:(?:a?)*?)$','aaa'),(r'(?:a?)*y','z'),(r'(?:x|(?:x|yabc)*)+$','yabcx'),(r'\u0100-\u0200|[ā-ǿ]+','xāǿ'),(r'[^a]b','ab cb'), (r'(?x) a b # c','ab'), (r'(\w+) (\w+)','hello wörld x')]:
    m = re.search(p, s)
    print(p, m, m and m.groups(), m and m.regs, m and m.lastindex, m and m.lastgroup)
    print(re.findall(p, s), re.split(p, s), re.sub(p, r'<\g<0>>', s), [x.span() for x in re.finditer(p, s)], re.fullmatch(p, s))
print(re.compile('a', re.I|re.A), re.compile(b'x', re.M|re.S|re.X), re.compile('a'*300))
print(re.sub('(a)(b)?', lambda m: repr(m.groups('z')), 'ab a'), re.subn('a','b','aaa',count=2))
print(re.match(r'(?P<y>\d\d)-(?P<m>\d)', '12-3').groupdict(), re.match(b'a(.)', b'ab')[1], re.match('a','ab').expand(r'\g<0>x\n'))
for e in ["re.compile('(')","re.compile('*')","re.compile('a**')","re.compile('[z-a]')","re.compile('(?P<a>x)(?P<a>y)')","re.compile(r'\\1')","re.compile('(?<=a*)b')","re.sub('a','\\\\9','a')","re.compile('(?z)')","re.compile('\\\\')", "re.compile('a{3,2}')", "re.compile(1)","re.compile(re.compile('a'), re.I)", "re.match('a','a').group(3)", "re.compile('a').match(1)"]:
    try: print(eval(e))
    except Exception as x: print(e, type(x).__name__, x, getattr(x,'pos',None), getattr(x,'lineno',None))
sc = re.Scanner([(r'\d+', lambda s,t: int(t)), (r'\w+', lambda s,t: t), (r'\s+', None)])
print(sc.scan('12 ab 3!'))
print(re.escape('a.b*c-é\n'), re.compile('a')==re.compile('a'), hash(re.compile('a'))==hash(re.compile('a')))
print(len(re.match('(?:.|\n)*?x', 'a'*20000+'x').group()), len(re.match('(?:a|b)*', 'ab'*20000).group()), len(re.match('(ab)*', 'ab'*20000).group()))
p=re.compile('^b'); print(p.match('ab',1), p.search('ab',1), re.compile('b$').search('abc',0,2), re.compile(r'\bb').search('ab',1))
print(list(re.finditer('(?P<w>a)|b','ab'))[0].lastgroup, re.compile('(?P<w>a)').groupindex, re.compile('').scanner('ab').search().span())
import pickle, copy
print(copy.copy(re.compile('a')), copy.deepcopy(re.compile('a')))
print(re.split('([a-z])', '0A1b2c', flags=re.I, maxsplit=1), re.findall('(?i:A)b', 'abAb AB'), re.findall('(?-i:a)', 'aA', re.I))

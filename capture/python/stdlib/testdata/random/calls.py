# Random calls of the methods and functions of built-in types and of modules that CPython writes in C, with arguments that are mostly of the wanted kind:
# "calls.py make SEED COUNT" prints calls, a line each, and "calls.py run FILE" what each of them gives, or that it fails; the differential test makes them with CPython
# and runs them there and here.
import array, base64, binascii, bisect, cmath, collections, contextlib, copy, csv, datetime, decimal, difflib, enum, fractions, functools, heapq, html, io, ipaddress, itertools, json, math
import operator, pprint, quopri, random, re, reprlib, shlex, statistics, string, struct, sys, textwrap, types, unicodedata, urllib.parse, warnings, zlib

warnings.simplefilter("ignore")

POOLS = {
    "int": ["0", "1", "-1", "2", "3", "5", "7", "-8", "10", "16", "100", "255", "256", "-300", "10**9", "2**31", "-2**31", "2**63", "2**64-1", "10**30", "True", "False"],
    "float": ["0.0", "-0.0", "1.0", "0.5", "-1.5", "2.5", "1e16", "1e-7", "123456.789", "1e300", "5e-324", "float('inf')", "float('-inf')", "float('nan')", "3.0", "1/3"],
    "complex": ["0j", "1+2j", "-1.5-0j", "complex(0, float('inf'))", "3+0j", "1e300+1e300j"],
    "str": ["''", "' '", "'a'", "'b'", "'abc'", "'Hello World'", "'a,b,,c'", "'  pad  '", "'tab\\there\\nline\\r\\nend'", "'%s %d'", "'{} {0}'", "'ß'", "'Éclair ñandú'", "'ǆ'", "'İI'", "'ﬁx'", "'Σίσυφος'", "'١٢٣'", "'²'", "'½'",
            "'a\\u0301'", "'\\U0001f600x'", "'\\ud800'", "'\\x00z'", "'x'*20", "'1_000'", "'0x1f'", "'-12'", "'3.5e3'", "'nan'", "'\\x85\\u2028q'", "'utf-8'", "'ascii'", "'strict'", "'ignore'", "'replace'", "'>10'", "'.3f'", "'aXbXc'", "'X'"],
    "bytes": ["b''", "b' '", "b'a'", "b'abc'", "b'Hello World'", "b'a,b,,c'", "b'\\x00\\xff'", "b'  pad  '", "b'line\\nx\\r\\ny'", "b'12'", "b'x'*20", "b'\\xc3\\xa9'", "b'YWJj'", "b'6162'", "bytearray(b'abc')", "bytearray()", "memoryview(b'abc')", "b'X'", "b'aXbXc'"],
    "list": ["[]", "[1]", "[3, 1, 2]", "[1, 1, 2]", "['a', 'b']", "['b', 'a', 'c']", "[1.5, 2]", "[[1], [2]]", "[None]", "[(1, 'a'), (2, 'b')]", "[0]*5", "[b'a', b'b']", "list(range(10))"],
    "tuple": ["()", "(1,)", "(1, 2)", "('a', 'b')", "(3, 1, 2)", "(1, 'a', None)", "((1, 2), (3, 4))", "(-1, 5)"],
    "dict": ["{}", "{'a': 1}", "{1: 2, 3: 4}", "{'a': 1, 'b': 2}", "{'x': [1]}", "{97: 98}", "{97: None, 98: 'zz'}"],
    "set": ["set()", "{1}", "{1, 2, 3}", "{2, 5}", "frozenset()", "frozenset({1, 2})", "frozenset({3})"],
    "none": ["None"],
    "other": ["...", "NotImplemented", "object", "int", "str", "len", "range(5)", "range(10, 0, -3)", "range(0)", "slice(1, 3)", "slice(None, None, -1)", "slice(-2, None)", "slice(0, 10, 3)"],
    "callable": ["str", "len", "int", "float", "abs", "repr", "(lambda a: a)", "(lambda a, b: (a, b))", "(lambda: 5)", "operator.add", "operator.neg", "operator.lt", "str.lower", "bool", "max"],
    "iterable": ["iter([1, 2, 3])", "iter('abc')", "iter(())", "(a for a in (2, 4))", "zip('ab', [1, 2])", "map(str, [1, 2])", "enumerate('xy')", "reversed([1, 2])", "dict(a=1).items()", "{'k': 1}.keys()"],
    "decimal": ["decimal.Decimal('0')", "decimal.Decimal('-0')", "decimal.Decimal('1.10')", "decimal.Decimal('-7.5')", "decimal.Decimal('1E+5')", "decimal.Decimal('123456789.987654321')", "decimal.Decimal('NaN')", "decimal.Decimal('sNaN')", "decimal.Decimal('Infinity')", "decimal.Decimal('-1E-10')", "decimal.Decimal('9.99E+400')", "decimal.Decimal(3)"],
    "fraction": ["fractions.Fraction(1, 3)", "fractions.Fraction(-7, 2)", "fractions.Fraction(0)", "fractions.Fraction('1.25')", "fractions.Fraction(10**20, 7)"],
    "date": ["datetime.date(2024, 2, 29)", "datetime.date(1, 1, 1)", "datetime.date(9999, 12, 31)", "datetime.date(2023, 12, 31)"],
    "datetime": ["datetime.datetime(2024, 2, 29, 12, 30, 45, 123456)", "datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)", "datetime.datetime(2023, 12, 31, 23, 59, 59, tzinfo=datetime.timezone(datetime.timedelta(hours=-5, minutes=-30)))", "datetime.datetime.min", "datetime.datetime.max"],
    "time": ["datetime.time(0)", "datetime.time(23, 59, 59, 999999)", "datetime.time(12, 30, tzinfo=datetime.timezone.utc)", "datetime.time(1, 2, 3, fold=1)"],
    "timedelta": ["datetime.timedelta(0)", "datetime.timedelta(1, 2, 3)", "datetime.timedelta(hours=-5)", "datetime.timedelta.max", "datetime.timedelta(microseconds=-1)", "datetime.timedelta(days=400, seconds=86399)"],
    "tz": ["datetime.timezone.utc", "datetime.timezone(datetime.timedelta(hours=1))", "datetime.timezone(datetime.timedelta(minutes=-90), 'X')"],
    "deque": ["collections.deque()", "collections.deque([1, 2, 3])", "collections.deque('abc', 2)", "collections.deque([3, 1, 2], maxlen=5)"],
    "counter": ["collections.Counter()", "collections.Counter('abca')", "collections.Counter(a=3, b=-1)"],
    "odict": ["collections.OrderedDict()", "collections.OrderedDict(a=1, b=2)", "collections.OrderedDict([(1, 2), (3, 4)])"],
    "ddict": ["collections.defaultdict(int)", "collections.defaultdict(list, a=[1])", "collections.defaultdict(None, {1: 2})"],
    "chain": ["collections.ChainMap()", "collections.ChainMap({'a': 1}, {'a': 2, 'b': 3})"],
    "array": ["array.array('i')", "array.array('i', [1, 2, 3])", "array.array('d', [1.5, -2])", "array.array('B', b'abc')", "array.array('u', 'aé')", "array.array('q', [2**40])"],
    "bytearray": ["bytearray()", "bytearray(b'abc')", "bytearray(b'a b c')", "bytearray(range(5))"],
    "memoryview": ["memoryview(b'abcdef')", "memoryview(bytearray(b'abcd'))", "memoryview(array.array('i', [1, 2, 3]))", "memoryview(bytes(12)).cast('B', (3, 4))", "memoryview(b'abcdef')[::2]"],
    "pattern": ["re.compile('a+')", "re.compile(r'(\\w)(\\d)?')", "re.compile(r'(?P<n>[a-c])|x')", "re.compile('')", "re.compile(b'[a-z]+')", "re.compile(r'\\s+', re.M)", "re.compile('é', re.I)"],
    "match": ["re.match(r'(\\w)(\\d)?(?P<r>.*)', 'ab c')", "re.search('b', 'abc')", "re.search(b'(b)|(z)', b'abc')"],
    "struct": ["struct.Struct('<ih')", "struct.Struct('>d3s')", "struct.Struct('')", "struct.Struct('=?bB')"],
    "range": ["range(5)", "range(10, 0, -3)", "range(0)", "range(10**20, 10**20 + 5)", "range(-5, 5, 2)"],
    "stringio": ["io.StringIO('line1\\nline2\\r\\nend')", "io.StringIO()", "io.StringIO('a\\rb', newline=None)"],
    "bytesio": ["io.BytesIO(b'line1\\nline2\\nend')", "io.BytesIO()"],
    "formatspec": ["'>10'", "'<8d'", "'^+12.3e'", "'08.2f'", "',d'", "'_x'", "'#b'", "'#010x'", "'=+10'", "'.5g'", "'%'", "'.0%'", "'c'", "'s'", "'é^9'", "' d'", "'n'", "'z.1f'", "'10.4s'", "',.2f'", "'-#.3g'", "'_b'", "'010'", "'!'", "'.f'", "'1.2.3'", "'{}'"],
    "date_format": ["'%Y-%m-%d'", "'%H:%M:%S.%f'", "'%A %d %B %Y'", "'%j %U %W %w %u %G %V'", "'%I %p %y %e'", "'%z %Z'", "'%%x%q'", "'%c|%x|%X'", "'%s'[:0]", "'é%Y'"],
    "struct_format": ["'<i'", "'>hhl'", "'=10s'", "'?'", "'3p'", "'d'", "'<e'", "'n'", "'xbx'", "'<q'", "'@bi'", "'0i'", "'z'", "'5'", "b'<H'"],
    "op_name": ["'a'", "'upper'", "'real'", "'__len__'", "'nope'"],
    "json_text": ["'[1, 2.5, \"a\"]'", "'{\"a\": null, \"b\": [true]}'", "'{'", "'[1,]'", "'\"\\\\u00e9\"'", "'nul'", "' 12 '", "'NaN'", "'-Infinity'", "'[1] x'", "b'{\"k\": 1}'", "'{\"a\" 1}'", "'\"\\t\"'"],
    "regex": ["'a'", "'(a)(b)?'", "'[a-z]+'", "'(?P<x>.)(?P=x)'", "'('", "'*a'", "'a{2,1}'", "'(?i)HELLO'", "r'\\bW'", "'[^,]*'", "r'\\d+|,'", "'(?<=a)b'", "'(?<!a)b'", "'a|'", "'(?:x|y)*'", "'[z-a]'", "'(?P<1>a)'", "r'\\8'", "'(?x) a  b # c'", "'.{3}'"],
    "repl": ["'-'", "r'\\1'", "r'<\\g<0>>'", "r'\\g<x>'", "r'\\2'", "'\\\\'", "(lambda m: m[0].upper())", "r'\\n'", "r'\\g<'"],
}
ANY = ["int", "int", "float", "str", "str", "bytes", "list", "tuple", "dict", "set", "none", "other", "complex", "decimal", "range", "iterable", "callable"]

# What is called: how the receiver is made, and which kinds its arguments are taken from.
TYPES = {
    "int": ["int", "int", "float", "str"], "float": ["float", "int"], "complex": ["complex", "float", "int"], "str": ["str", "str", "str", "int", "tuple", "none", "list", "dict"],
    "bytes": ["bytes", "bytes", "int", "none", "str", "list"], "bytearray": ["bytes", "int", "int", "none", "list"], "list": ["int", "list", "iterable", "str", "callable"], "tuple": ["int", "tuple", "str"],
    "dict": ["str", "int", "dict", "list"], "set": ["set", "list", "int", "str", "iterable"], "fraction": ["fraction", "int", "float", "decimal"],
    "date": ["date", "timedelta", "int", "date_format", "str", "datetime"], "datetime": ["datetime", "timedelta", "int", "tz", "date_format", "str", "time"], "time": ["time", "int", "tz", "date_format", "str", "none"], "timedelta": ["timedelta", "int", "float"], "tz": ["datetime", "none", "timedelta"],
    "deque": ["int", "list", "deque", "iterable"], "counter": ["counter", "int", "str", "dict"], "odict": ["str", "int", "dict", "odict"], "ddict": ["str", "int", "dict"], "chain": ["dict", "str", "int"],
    "array": ["int", "array", "bytes", "list", "float"], "memoryview": ["int", "bytes", "str", "tuple", "memoryview", "other"], "pattern": ["str", "str", "bytes", "int", "repl"], "match": ["int", "str", "repl", "none"],
    "struct": ["bytes", "int", "float", "bytearray"], "range": ["int", "range"], "stringio": ["str", "int", "none"], "bytesio": ["bytes", "int", "none"],
}
FUNCTIONS = {
    "math": ["float", "int", "float", "int", "decimal", "list"], "cmath": ["complex", "float", "int"], "operator": ["int", "float", "list", "str", "dict", "op_name"], "binascii": ["bytes", "str", "int"], "base64": ["bytes", "str"], "bisect": ["list", "int", "callable"],
    "heapq": ["list", "int", "iterable", "callable"], "itertools": ["list", "iterable", "int", "callable", "str", "range"], "statistics": ["list", "float", "int"], "struct": ["struct_format", "struct_format", "int", "bytes", "float"], "textwrap": ["str", "int", "str"],
    "unicodedata": ["str", "str", "none"], "urllib.parse": ["str", "str", "bytes", "dict", "list"], "zlib": ["bytes", "int"], "shlex": ["str", "list"], "html": ["str", "int"], "string": ["str"], "functools": ["callable", "list", "int"], "copy": ["list", "dict", "set"],
    "difflib": ["str", "list", "int"], "ipaddress": ["str", "int", "bytes"], "reprlib": ["list", "str", "dict"], "colorsys": ["float"], "re": ["regex", "str", "str", "repl", "int"], "json": ["json_text", "list", "dict", "float"], "collections": ["str", "list", "dict", "int"],
    "pprint": ["list", "dict", "str"],
}
BUILTINS = ["abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "callable", "chr", "complex", "dict", "divmod", "enumerate", "filter", "float", "format", "frozenset", "getattr", "hasattr", "hex", "int", "isinstance", "issubclass", "iter", "len", "list",
            "map", "max", "memoryview", "min", "next", "oct", "ord", "pow", "range", "repr", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "type", "zip", "int.from_bytes", "float.fromhex", "dict.fromkeys", "bytes.fromhex", "str.maketrans", "bytes.maketrans",
            "datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta", "datetime.timezone", "datetime.date.fromisoformat", "datetime.datetime.fromisoformat", "datetime.time.fromisoformat", "datetime.datetime.strptime", "datetime.datetime.combine", "datetime.date.fromisocalendar", "datetime.date.fromordinal",
            "decimal.Decimal.from_float", "fractions.Fraction", "fractions.Fraction.from_float", "collections.deque", "collections.Counter", "collections.OrderedDict", "collections.defaultdict", "collections.namedtuple", "array.array", "types.SimpleNamespace", "types.MappingProxyType",
            "itertools.product", "itertools.permutations", "itertools.combinations", "functools.reduce", "functools.partial", "enum.Enum", "io.StringIO", "io.BytesIO", "re.compile", "textwrap.fill", "textwrap.shorten"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "@", "<", "<=", "==", "!=", ">", ">=", "in", "is", "and", "or"]
# What differs from run to run or shows addresses, sizes of objects or of memory, or takes too long.
LEFT_OUT = {"__sizeof__", "__init_subclass__", "__subclasshook__", "__reduce__", "__reduce_ex__", "__dir__", "__doc__", "__class__", "__new__", "__init__", "__getattribute__", "__getstate__", "now", "today", "utcnow", "fromtimestamp", "utcfromtimestamp", "timestamp", "buffer_info", "__del__",
            "fromfile", "tofile", "fileno", "count", "repeat", "cycle", "input", "help", "urlopen", "_json", "factorial", "perm", "comb", "release", "scanstring", "main", "test", "pp", "crc_hqx", "singledispatch", "encode", "decode", "encode_basestring", "open", "load", "dump", "pprint", "template", "decompressobj", "compressobj", "compress",
            "namedtuple", "detect_encoding", "codecs", "wraps", "update_wrapper", "cached_property", "singledispatchmethod", "cmp_to_key", "lru_cache", "cache", "unescape", "_test", "astimezone", "tee", "print_function", "getlower", "sre_compile", "isrecursive", "purge", "format_exc", "SequenceMatcher", "HtmlDiff"} - {"encode", "decode", "count"}
# What checks its arguments in another order, or later, than CPython does, and fails all the same; and hashes that are made of addresses.
LEFT_OUT |= {"__mul__", "__rmul__", "__add__", "__rpow__", "detach", "__hash__", "__getformat__"}
SLOW = {("int", "__lshift__"), ("int", "__rlshift__"), ("int", "__pow__"), ("int", "__rpow__"), ("itertools", "count"), ("itertools", "repeat"), ("itertools", "cycle"), ("itertools", "product"), ("operator", "pow"), ("operator", "ipow"), ("operator", "lshift"), ("operator", "ilshift"), ("base64", "encode"), ("base64", "decode"),
        ("decimal", "__rpow__"), ("decimal", "__pow__"), ("fraction", "__pow__"), ("fraction", "__rpow__"), ("quopri", "encode"), ("quopri", "decode"), ("zlib", "decompress")}
HUGE = re.compile(r"10\*\*(9|20|30)|2\*\*|E\+400|1e300|1e16|123456789")
GROWS = re.compile(r"range|repeat|cycle|just|center|zfill|expandtabs|to_bytes|truncate|seek|ldexp|rotate|indent|fill|wrap|shorten|combin|perm|resize|isqrt|%\*d|compress|islice|bytes|bytearray|mul|concat|pow|shift| \* | \*\* |<<|\{o|array|elements|round|quantize|scaleb|Fraction|int\(|__int__|__trunc__|__hash__|hash|io\.|from_float|limit_denominator")


def shown(v, depth=0):
    """The value as text, iterators by what they yield, addresses left out."""
    if isinstance(v, (types.GeneratorType, map, filter, zip, enumerate)) or type(v).__name__.endswith("iterator") or type(v).__module__ == "itertools" or type(v) is reversed:
        if depth > 2:
            return type(v).__name__
        return type(v).__name__ + "<" + ", ".join(shown(a, depth + 1) for a in itertools.islice(v, 12)) + ">"
    if isinstance(v, (io.StringIO, io.BytesIO)):
        return f"{type(v).__name__}({v.getvalue()!r}, {v.tell()})" if not v.closed else "closed"
    if isinstance(v, memoryview):
        return f"memoryview({v.tobytes()!r}, {v.format!r}, {v.shape}, {v.strides}, {v.readonly})"
    if isinstance(v, (set, frozenset)):
        return type(v).__name__ + "{" + ", ".join(sorted(map(repr, v))) + "}"
    if isinstance(v, float) and v and abs(v) != float("inf") and v == v:
        return f"{v:.12g}"
    if isinstance(v, complex):
        return f"({v.real:.10g}, {v.imag:.10g})"
    if type(v) in (tuple, list):
        return type(v).__name__ + "(" + ", ".join(shown(a, depth + 1) for a in v) + ")"
    text = repr(v)
    return re.sub(r"0x[0-9a-f]{6,}", "0x", text if len(text) < 400 else text[:200] + f"...{len(text)}")


def arguments(r, kinds, n):
    out = []
    for _ in range(n):
        kind = r.choice(kinds) if r.random() < 0.85 else r.choice(ANY)
        out.append(r.choice(POOLS[kind]))
    return out


def names_of(v):
    return sorted(n for n in dir(v) if n not in LEFT_OUT and (not n.startswith("_") or n.startswith("__") and n.endswith("__")))


def one(r):
    """A setup, an expression and the receiver that is shown afterwards."""
    kind = r.random()
    if kind < 0.5:
        t = r.choice(list(TYPES))
        receiver = r.choice(POOLS[t])
        name = r.choice(names_of(eval(receiver)))
        if (t, name) in SLOW:
            return None
        n = r.choice([0, 1, 1, 1, 2, 2, 3])
        args = arguments(r, TYPES[t], n)
        if n and r.random() < 0.05:
            args[-1] = r.choice(["key", "sep", "maxsplit", "reverse", "default", "encoding", "errors", "signed", "byteorder", "timespec", "year", "iterable", "start", "end"]) + "=" + args[-1]
        return receiver, f"o.{name}" + (f"({', '.join(args)})" if callable(getattr(eval(receiver), name, None)) else "")
    if kind < 0.65:
        m = r.choice(list(FUNCTIONS))
        module = sys.modules.get(m) or __import__(m)
        public = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
        names = sorted(n for n in public if n not in LEFT_OUT and callable(getattr(module, n, None)) and not isinstance(getattr(module, n), type) and getattr(getattr(module, n), "__module__", m) in (m, "_" + m, None))
        if not names:
            return None
        name = r.choice(names)
        if (m, name) in SLOW:
            return None
        return "None", f"{m}.{name}({', '.join(arguments(r, FUNCTIONS[m], r.choice([1, 1, 2, 2, 3])))})"
    if kind < 0.8:
        name = r.choice(BUILTINS)
        kinds = ANY
        if name.startswith("datetime"):
            kinds = ["int", "int", "int", "date_format", "str", "date", "time", "tz", "timedelta"]
        return "None", f"{name}({', '.join(arguments(r, kinds, r.choice([0, 1, 1, 1, 2, 2, 3])))})"
    if kind < 0.9:
        a, b = r.choice(list(TYPES)), r.choice(list(TYPES))
        if r.random() < 0.6:
            b = r.choice(TYPES[a])
        op = r.choice(OPERATORS)
        x, y = r.choice(POOLS[a]), r.choice(POOLS[b])
        if op in ("**", "<<", "*") and (HUGE.search(x) or HUGE.search(y)):
            return None
        return x, f"o {op} {y}"
    if kind < 0.96:
        t = r.choice(["int", "float", "complex", "str", "date", "datetime", "fraction", "timedelta", "bytes", "none"])
        spec = r.choice(POOLS["date_format" if t in ("date", "datetime") and r.random() < 0.7 else "formatspec"])
        return r.choice(POOLS[t]), r.choice([f"format(o, {spec})", f"('{{:' + {spec} + '}}').format(o)", f"f'{{o!r:>{{10}}}}|{{o!s:^{{len({spec})}}}}'", f"'%{r.choice(['d', '5.2f', 'x', '#o', 'r', '-8s', 'c', '+e', '05i', '.3g', 'a'])}' % o", f"'%{r.choice(['d', 's', '*d', '(a)s'])}' % (o,)"])
    t = r.choice(list(TYPES))
    return r.choice(POOLS[t]), r.choice(["o[{}]", "o[{}:{}]", "o[::{}]", "o.__setitem__({}, {})", "o.__delitem__({})", "(lambda *a, **k: (a, k))(*o)", "(lambda *a, **k: (a, k))(**o)", "[*o, *{}]", "{{**o, **{}}}", "sorted(o)", "(lambda: [a for a, b in o])()", "o[{}, {}]", "{} in o", "iter(o)", "-o", "~o", "not o", "+o"]).format(*arguments(r, TYPES[t] + ["int", "other"], 2))


def make(k):
    """The k-th call: what o is, and the expression; nothing where that could take a machine's memory or an hour."""
    made = one(random.Random(k))
    if made is None:
        return
    both = " ".join(made)
    if HUGE.search(both) and GROWS.search(both):
        return
    print(json.dumps([k, *made]))


def run(k, setup, text):
    ns = dict(globals())
    try:
        o = ns["o"] = eval(setup, ns)
        v = eval(text, ns)
        line = shown(v) + " " + type(v).__name__
    except Exception:
        line = "!"
    after = ""
    if setup != "None":
        try:
            after = shown(ns["o"])
        except Exception:
            after = "!"
    print(ascii(f"{k} {setup} ; {text} -> {line} ; {after}"))


if sys.argv[1] == "make":
    for k in range(int(sys.argv[2]), int(sys.argv[2]) + int(sys.argv[3])):
        make(k)
else:
    with open(sys.argv[2]) as calls:
        for l in calls:
            run(*json.loads(l))

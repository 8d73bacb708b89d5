"""csv, base64, hmac, contextvars, getopt and array. Every part runs alone."""
PARTS = r'''
import csv, io
t = 'a,b,c\r\n1,"x, ""y""",3\n\n"multi\nline",,z\n'
print(list(csv.reader(io.StringIO(t))), list(csv.DictReader(io.StringIO(t))), list(csv.reader(["a;b", "'c;d';e"], delimiter=";", quotechar="'")), list(csv.reader(["a, b"], skipinitialspace=True)), list(csv.reader(['1,"2",3.5'], quoting=csv.QUOTE_NONNUMERIC)), list(csv.reader(["a\tb"], "excel-tab")), list(csv.reader(['a"b,"c"d'])))
o = io.StringIO(); w = csv.writer(o); print(w.writerow([1, "a,b", 'q"q', None, 2.5, True, "x\ny", ""]), w.writerow([""]), w.writerow([]), w.writerows([[1, 2], "ab"])); print(repr(o.getvalue()))
for q in range(4):
    o = io.StringIO()
    try: csv.writer(o, quoting=q, escapechar="\\").writerow([1, "a,b", 'q"', None, 1.5]); print(q, repr(o.getvalue()))
    except csv.Error as e: print(q, e)
o = io.StringIO(); d = csv.DictWriter(o, ["x", "y"], restval="-"); d.writeheader(); d.writerow({"x": 1}); print(repr(o.getvalue()))
for f in (lambda: d.writerow({"z": 1}), lambda: csv.reader([], delimiter="ab"), lambda: csv.reader([], "nope"), lambda: csv.writer(io.StringIO()).writerow(5), lambda: list(csv.reader([b"a"])), lambda: list(csv.reader(['"a'], strict=True)), lambda: list(csv.reader(["a\rb"])), lambda: csv.writer(5), lambda: csv.reader([], quoting=9), lambda: list(csv.reader(["x"], quoting=csv.QUOTE_NONNUMERIC)), lambda: csv.writer(io.StringIO(), quoting=3).writerow(["a,b"])):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
r = csv.reader(["a,b", '"c', 'd",e']); print([(x, r.line_num) for x in r], csv.list_dialects(), csv.field_size_limit())
rd = csv.DictReader(["1,2,3", "4"], ["a", "b"], restkey="more", restval="none"); print(list(rd), rd.fieldnames)
---
import base64, binascii, hmac, hashlib
for s in (b"", b"a", b"ab", b"abc", bytes(range(250, 256))):
    e = base64.b64encode(s); print(e, base64.b64decode(e), base64.urlsafe_b64encode(s), base64.b32encode(s), base64.b32decode(base64.b32encode(s)), base64.b16encode(s), base64.b16decode(base64.b16encode(s)), binascii.hexlify(s, "-"))
for f in (lambda: base64.b64decode("abc"), lambda: base64.b64decode("a"), lambda: base64.b64decode(b"ab==", validate=True), lambda: base64.b64decode(b"a b=c", validate=True), lambda: base64.b64decode("é"), lambda: base64.b64encode("a"), lambda: base64.b32decode("a"), lambda: base64.b16decode("ag"), lambda: binascii.unhexlify("abc"), lambda: binascii.unhexlify("zz"), lambda: base64.b64decode(5), lambda: base64.b64decode(b"YWJj\nZGVm"), lambda: base64.b64encode(b"??>", b"-_"), lambda: base64.decodebytes(base64.encodebytes(b"x" * 60)) == b"x" * 60):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
print(hmac.new(b"k", b"m", "sha256").hexdigest(), hmac.new(b"k" * 100, b"m", hashlib.md5).hexdigest(), hmac.compare_digest("a", "a"), hmac.compare_digest(b"a", b"b"), hmac.digest(b"k", b"m", "sha1").hex(), hmac.new(b"k", digestmod="sha1").name)
---
import secrets, contextvars, getopt
print(len(secrets.token_bytes(5)), len(secrets.token_hex(4)), secrets.randbelow(1), secrets.choice([3]), len(secrets.token_urlsafe(8)))
v = contextvars.ContextVar("v", default=1); t = v.set(2); c = contextvars.copy_context(); print(v.get(), c[v], c.run(lambda: (v.set(5), v.get())[1]), v.get()); v.reset(t); print(v.get(), len(c), v in c)
try: v.reset(t)
except RuntimeError as e: print("used")
try: contextvars.ContextVar("q").get()
except LookupError as e: print("none")
print(getopt.getopt(["-a", "-b", "x", "--long=3", "--fl", "rest", "-z"], "ab:", ["long=", "flag"]), getopt.gnu_getopt(["x", "-a", "y", "--", "-q"], "a"))
for a in (["-c"], ["-b"], ["--long"], ["--flag=1"], ["--x"]):
    try: getopt.getopt(a, "ab:", ["long=", "flag"])
    except getopt.GetoptError as e: print(e, e.opt)
---
from array import array
a = array("i", [1, 2, 3]); a.append(4); a.extend([5]); a.insert(0, 0); print(a, a[1], a[1:3], a[::-1], len(a), a.typecode, a.itemsize, a.tolist(), a.pop(), a.index(2), a.count(1), 3 in a, a + array("i", [9]), a * 2, a.tobytes()[:8], list(a), a == array("i", [0, 1, 2, 3, 4]), array("d", [1, 2.5]), array("f", [0.1]), array("B", b"ab"), array("d"), max(a), sum(a))
a[0] = 7; a[1:3] = array("i", [8]); del a[-1]; a.reverse(); a.remove(8); print(a); a.frombytes(b"\1\0\0\0"); a.byteswap(); print(a); a += array("i", [1]); print(a, a < array("i", [1]))
for f in (lambda: array("z"), lambda: array("i", [1.5]), lambda: array("b", [200]), lambda: array("B", [-1]), lambda: array("H", [70000]), lambda: array("i", ["a"]), lambda: a[99], lambda: a.pop(99), lambda: array("i").pop(), lambda: a.remove(55), lambda: a.index(55), lambda: a + [1], lambda: a.frombytes(b"abc"), lambda: a["x"], lambda: a.__setitem__(slice(0, 1), [1]), lambda: array("i", "ab"), lambda: a.append("x"), lambda: array("f", ["x"]), lambda: a.extend(array("b", [1]))):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
import copy, pickle; print(copy.copy(a) == a, pickle.loads(pickle.dumps(a)) == a, array("d", array("i", [1])))
'''

for i, part in enumerate(PARTS.strip("\n").split("\n---\n")):
    print("##", i)
    try:
        exec(compile(part, "<part %d>" % i, "exec"), {"__name__": "__main__"})
    except BaseException as e:
        print("!!", type(e).__name__, e)

import argparse, pathlib, tempfile, shutil, subprocess, weakref, threading, numbers, pprint, struct, hashlib, pickle, bisect, heapq, statistics, signal, platform, uuid, importlib, datetime, unittest, base64, fractions, os, glob, sys
p = argparse.ArgumentParser(prog='x', description='d')
p.add_argument('a', type=int); p.add_argument('--b', default='q', help='the b'); p.add_argument('-v', '--verbose', action='store_true'); p.add_argument('rest', nargs='*')
print(p.parse_args(['3', 'r1', 'r2', '--b=z', '-v']), p.parse_args(['4']))
with tempfile.TemporaryDirectory() as d:
    f = pathlib.Path(d) / 'a.txt'
    f.write_text('hi\nyo'); print(f.read_text(), f.name, f.suffix, f.exists(), sorted(os.listdir(d)), [x.name for x in pathlib.Path(d).glob('*.txt')])
    with open(f) as fh: print(fh.readlines())
    shutil.copy(f, os.path.join(d, 'b.txt')); print(sorted(os.path.basename(x) for x in glob.glob(d + '/*')))
print(subprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout, subprocess.run('exit 3', shell=True).returncode)
print(struct.pack('<ihd', 1, 2, 3.5), struct.unpack('>I', b'\0\0\1\0'), hashlib.sha256(b'x').hexdigest()[:10])
class Foo:
    def __init__(self, x): self.x = x
    def __eq__(self, o): return self.x == o.x
print(pickle.loads(pickle.dumps({'a': [1, 2.5, (3,)], 'f': Foo(3)})) == {'a': [1, 2.5, (3,)], 'f': Foo(3)})
h = [5, 1, 4]; heapq.heapify(h); print(heapq.heappop(h), heapq.nsmallest(2, [3, 1, 2]), bisect.bisect([1, 2, 3], 2))
print(statistics.mean([1, 2, 3, 4]), statistics.stdev([1.0, 2.0, 4.0]), statistics.median([1, 3, 2]))
print(datetime.date(2024, 2, 28) + datetime.timedelta(days=2), datetime.datetime(2024, 1, 1, 12, 30).isoformat(), datetime.timedelta(hours=25))
pprint.pprint({'b': list(range(30)), 'a': 'x' * 50})
print(base64.b64encode(b'hello'), base64.b64decode('aGVsbG8='), fractions.Fraction(1, 3) + 1)
print(isinstance(3, numbers.Integral), importlib.import_module('os.path').join('a', 'b'), weakref.ref(Foo)() is Foo)
print(pathlib.PurePath('/a/b/../c.tar.gz').suffixes, pathlib.Path('a') / 'b', pathlib.Path('/a/b').parent)
try: subprocess.run(['false'], check=True)
except subprocess.CalledProcessError as e: print(e)
try: open('/nonexistent')
except FileNotFoundError as e: print(e, e.errno)


import errno, glob, os, pathlib, shutil, stat, subprocess, sys, tempfile

with tempfile.TemporaryDirectory() as d:
    p = pathlib.Path(d)
    (p / 'a' / 'b').mkdir(parents=True)
    (p / 'a' / 'x.txt').write_text('text\n')
    os.symlink('x.txt', p / 'a' / 'link')
    st = os.stat(p / 'a' / 'x.txt')
    print(st.st_size, stat.filemode(st.st_mode & ~0o022), st[6], len(st), type(st).__name__, st.st_mtime_ns // 10**9 == st[8])
    for e in sorted(os.scandir(p / 'a'), key=lambda e: e.name):
        print(e.name, e.is_dir(), e.is_file(), e.is_symlink(), e.is_file(follow_symlinks=False), e)
    print(sorted(os.listdir(p / 'a')), sorted(os.listdir(os.fsencode(p / 'a'))))
    print([(os.path.relpath(t, d), sorted(ds), sorted(fs)) for t, ds, fs in os.walk(d)])
    print(sorted(os.path.relpath(g, d) for g in glob.glob(d + '/**', recursive=True)))
    for what in (lambda: os.mkdir(p / 'a'), lambda: os.rmdir(p / 'a'), lambda: open(p / 'none'), lambda: os.rename(p / 'none', p / 'b'), lambda: os.listdir(p / 'a' / 'x.txt'), lambda: os.stat('x\0y'), lambda: os.mkdir(3.5)):
        try:
            what()
        except (OSError, ValueError, TypeError) as e:
            print(type(e).__name__, getattr(e, 'errno', None), str(e).replace(d, 'D'), getattr(e, 'filename2', None) is not None)
    fd = os.open(p / 'f', os.O_RDWR | os.O_CREAT)
    print(os.write(fd, b'hello'), os.lseek(fd, 0, 0), os.read(fd, 3), os.pread(fd, 2, 1), os.fstat(fd).st_size, os.get_inheritable(fd), os.isatty(fd))
    os.ftruncate(fd, 2), os.close(fd)
    os.utime(p / 'f', (1000, 2000.5))
    print(os.stat(p / 'f').st_atime, os.stat(p / 'f').st_mtime_ns, os.path.getsize(p / 'f'))
    shutil.copytree(p / 'a', p / 'c', symlinks=True)
    print(os.readlink(p / 'c' / 'link'), (p / 'c' / 'x.txt').read_text(), os.access(p / 'c', os.X_OK))
    shutil.rmtree(p / 'c')
    print((p / 'c').exists())
r, w = os.pipe()
os.write(w, b'through'), os.close(w)
print(os.read(r, 100)), os.close(r)
print(errno.errorcode[2], errno.EAGAIN == errno.EWOULDBLOCK, os.strerror(2), os.strerror(11))
print(subprocess.run(['sh', '-c', 'cat; echo err >&2; exit 3'], input=b'in', capture_output=True))
try:
    subprocess.run(['no-such-program'])
except FileNotFoundError as e:
    print(e)
try:
    subprocess.run(['sleep', '5'], timeout=0.05)
except subprocess.TimeoutExpired as e:
    print(e.cmd)
print(subprocess.check_output('echo $X', shell=True, env={'X': 'yes'}), os.WEXITSTATUS(os.system('exit 4')))
os.environ['WHITTLE_X'] = 'a=b'
print(os.environ['WHITTLE_X'], subprocess.getoutput('echo $WHITTLE_X'), os.environb[b'WHITTLE_X'])
print(os.fspath(pathlib.Path('x')), ascii(os.fsdecode(b'a\xff')), os.fsencode('a\udcff'), os.path.normpath('//a/../b//c/.'))
print(sys.getfilesystemencoding(), os.terminal_size((3, 4)), os.sep, os.name)

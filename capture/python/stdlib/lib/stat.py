S_IFDIR, S_IFREG, S_IFLNK = 0o040000, 0o100000, 0o120000
S_IRWXU, S_IRUSR, S_IWUSR, S_IXUSR = 0o700, 0o400, 0o200, 0o100
def S_IFMT(m): return m & 0o170000
def S_IMODE(m): return m & 0o7777
def S_ISDIR(m): return S_IFMT(m) == S_IFDIR
def S_ISREG(m): return S_IFMT(m) == S_IFREG
def S_ISLNK(m): return S_IFMT(m) == S_IFLNK

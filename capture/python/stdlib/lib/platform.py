import sys as _s


def system(): return 'Linux'
def machine(): return 'x86_64'
def processor(): return 'x86_64'
def python_version(): return '3.11.7'
def python_version_tuple(): return ('3', '11', '7')
def python_implementation(): return 'CPython'
def node(): return 'localhost'
def release(): return '0'
def version(): return '0'
def platform(aliased=False, terse=False): return 'Linux-x86_64'
def architecture(*a): return ('64bit', 'ELF')


def uname():
    from types import SimpleNamespace
    return SimpleNamespace(system='Linux', node='localhost', release='0', version='0', machine='x86_64', processor='x86_64')

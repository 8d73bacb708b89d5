# Limits of file systems and of the machine, users, children, and fields that cannot be set.
import os

def t(f, *a, **k):
    try:
        print(f(*a, **k))
    except Exception as e:
        print(type(e).__name__, e)

for p in '/proc', '/dev/null':
    for n in sorted(os.pathconf_names):
        t(os.pathconf, p, n)
t(os.pathconf, '/nope', 3); t(os.pathconf, '/', 99); t(os.fpathconf, 99, 3); t(os.fpathconf, -1, 3); t(os.pathconf, '/', 'x'); t(os.fpathconf, 'x', 1)
s = os.stat('/')
t(setattr, s, 'st_mode', 1); t(setattr, s, 'st_rdev', 1); t(delattr, s, 'st_mode'); t(setattr, os.times(), 'user', 1)
t(os.spawnv, os.P_WAIT, '/bin/sh', ['sh', '-c', 'exit 3']); t(os.spawnl, os.P_WAIT, '/bin/sh', 'sh', '-c', 'kill -9 $$'); t(os.spawnlp, os.P_WAIT, 'sh', 'sh', '-c', 'exit 4')
t(os.spawnve, os.P_WAIT, '/bin/sh', ['sh', '-c', 'exit $N'], {'N': '5'}); t(os.spawnvpe, os.P_WAIT, 'sh', ['sh', '-c', 'exit $N'], {'N': '6', 'PATH': '/bin'})
t(os.spawnv, os.P_WAIT, '/nope', ['a']); t(os.spawnv, os.P_WAIT, '/bin/sh', []); t(os.spawnv, os.P_WAIT, '/bin/sh', ['']); t(os.spawnv, os.P_WAIT, '/bin/sh', 'x')
for args in ('/bin/sh', ['sh', '-c', 'exit 7']), ('/nope', ['a']):
    pid = os.spawnv(os.P_NOWAIT, *args)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

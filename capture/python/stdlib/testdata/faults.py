import faulthandler, tempfile, sys, time, signal, os, threading
def dump(**k):
    with tempfile.TemporaryFile() as f:
        faulthandler.dump_traceback(f, **k)
        f.seek(0)
        return f.read().decode().replace(__file__, 'F')
import re
def hexless(s): return re.sub('0x[0-9a-f]+','0x',s)
def g(): return dump(all_threads=False)
def h(): return dump()
print(g()); print(hexless(h()))
ev=threading.Event(); ready=threading.Event()
def waiter():
    ready.set(); ev.wait()
t=threading.Thread(target=waiter); t.start(); ready.wait()
print(len(re.findall('Thread|thread 0x', h())))
ev.set(); t.join()
with tempfile.TemporaryFile() as f:
    faulthandler.dump_traceback_later(0.2, file=f)
    time.sleep(0.5)
    f.seek(0); print(hexless(f.read().decode().replace(__file__, 'F')))
    f.seek(0);f.truncate()
    faulthandler.dump_traceback_later(0.2, file=f)
    a=time.time()
    while time.time()-a<0.5: pass
    f.seek(0); print(hexless(f.read().decode().replace(__file__, 'F')).split(', line')[0])
    faulthandler.dump_traceback_later(0.2, file=f)
    faulthandler.cancel_dump_traceback_later()
with tempfile.TemporaryFile() as f:
    faulthandler.register(signal.SIGUSR1, f, all_threads=False)
    os.kill(os.getpid(), signal.SIGUSR1)
    f.seek(0); print(hexless(f.read().decode().replace(__file__, 'F')))
    print(faulthandler.unregister(signal.SIGUSR1), faulthandler.unregister(signal.SIGUSR1))
def t(f,*a,**k):
    try: print(f(*a,**k))
    except BaseException as e: print(type(e).__name__, e)
t(faulthandler.register, 11); t(faulthandler.register,0); t(faulthandler.register,1000)
t(faulthandler.dump_traceback_later,0); t(faulthandler.dump_traceback_later,'x'); t(faulthandler.dump_traceback_later,1e30)
t(faulthandler.dump_traceback_later); t(faulthandler.dump_traceback,-1); t(faulthandler.dump_traceback,'x')
e=sys.stderr; sys.stderr=None; t(faulthandler.dump_traceback); t(faulthandler.enable); del sys.stderr; t(faulthandler.enable); sys.stderr=e
t(faulthandler.is_enabled); t(faulthandler.enable, 2); t(faulthandler.is_enabled); t(faulthandler.disable); t(faulthandler.disable)
def rec(n):
    return rec(n-1) if n else dump(all_threads=False)
print(rec(150)[-60:])
exec(compile("def f(): return g()\n"
"print(f())", 'é€\U0001f600'*3, 'exec'))

def gethostname(): return 'localhost'
class socket: pass
error = OSError

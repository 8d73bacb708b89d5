LC_ALL, LC_CTYPE = 6, 0
def setlocale(*a): return 'C'
def getpreferredencoding(do_setlocale=True): return 'UTF-8'
def getlocale(c=0): return ('en_US', 'UTF-8')

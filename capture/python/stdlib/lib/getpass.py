import os
def getuser(): return os.environ.get('USER') or os.environ.get('LOGNAME') or 'root'
def getpass(prompt='Password: ', stream=None): return input(prompt)

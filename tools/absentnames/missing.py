"""Makes the archive of what whittle lacks out of a list that names.py made: run by whittle.

    whittle run missing.py names.txt > ../../capture/torch/absent.txtar

The whittle that runs it has to be built with an archive that lists nothing: an empty file "in".
"""
import importlib
import re
import sys


def found(name):
    try:
        m = importlib.import_module(name)
    except ModuleNotFoundError:
        return None
    return None if getattr(m, "__absent__", False) else m


def absent(module, name):
    if name in vars(module):
        return getattr(vars(module)[name], "__absent__", False)
    return getattr(getattr(module, name, None), "__absent__", not hasattr(module, name))


def wrapped(names):
    """Lines of names, of some 150 characters."""
    line = ""
    for n in names:
        if len(line) + len(n) > 150:
            yield line
            line = ""
        line += " " * bool(line) + n
    if line:
        yield line


def main():
    print("What the private modules of PyTorch 2.6 define and whittle does not: made by tools/absentnames.")
    here = []
    for line in open(sys.argv[1]):
        module, *names = line.split()
        name = module.rstrip("/")
        m = found(name)
        if m is not None:
            names = [n for n in names if absent(m, re.match(r"\w+", n).group())]
            if names:
                here.append(" ".join([name, *names]))
            continue
        print(f"-- {name.replace('.', '/')}{'/__init__' if module != name else ''}.py --")
        print('"""Not supported."""\nfrom torch._absent import module\n')
        if names:
            print('module(__name__, """')
            print(*wrapped(names), sep="\n")
            print('""")')
        else:
            print('module(__name__)')
    print("-- in --", *here, sep="\n")


main()

import re


def translate(pat):
    i, n, res = 0, len(pat), ''
    while i < n:
        c = pat[i]
        i += 1
        if c == '*':
            res += '.*'
        elif c == '?':
            res += '.'
        elif c == '[':
            j = pat.find(']', i + 1)
            if j < 0:
                res += '\\['
            else:
                s = pat[i:j].replace('\\', '\\\\')
                i = j + 1
                res += '[' + ('^' + s[1:] if s[0] == '!' else s) + ']'
        else:
            res += re.escape(c)
    return r'(?s:%s)\Z' % res


def fnmatchcase(name, pat): return re.match(translate(pat), name) is not None
fnmatch = fnmatchcase


def filter(names, pat): return [n for n in names if fnmatchcase(n, pat)]

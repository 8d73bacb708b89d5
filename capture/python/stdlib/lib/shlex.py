import re


def quote(s):
    if not s:
        return "''"
    return s if re.fullmatch(r'[\w@%+=:,./-]+', s) else "'" + s.replace("'", "'\"'\"'") + "'"


def join(parts): return ' '.join(map(quote, parts))


def split(s, comments=False, posix=True):
    out, cur, q, has, i = [], '', None, False, 0
    while i < len(s):
        c = s[i]
        if q:
            if c == q:
                q = None
            elif c == '\\' and q == '"' and i + 1 < len(s) and s[i + 1] in '"\\$`':
                i += 1
                cur += s[i]
            else:
                cur += c
        elif c in '\'"':
            q, has = c, True
        elif c == '\\' and i + 1 < len(s):
            i += 1
            cur += s[i]
            has = True
        elif c.isspace():
            if cur or has:
                out.append(cur)
            cur, has = '', False
        else:
            cur += c
        i += 1
    if q:
        raise ValueError('No closing quotation')
    if cur or has:
        out.append(cur)
    return out

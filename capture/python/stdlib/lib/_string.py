"""Format strings taken apart."""
from _whittle import native


@native
def formatter_parser(s):
    """(text, field, spec, conversion) for every replacement field, and for every brace that stands for itself."""
    i, n, text = 0, len(s), ''
    while i < n:
        c = s[i]
        if c not in '{}':
            text += c
            i += 1
            continue
        if s[i + 1:i + 2] == c:
            yield text + c, None, None, None
            text, i = '', i + 2
            continue
        if c == '}':
            raise ValueError("Single '}' encountered in format string")
        if i + 1 >= n:
            raise ValueError("Single '{' encountered in format string")
        depth, j = 1, i + 1
        colon = bang = -1
        square = False
        while j < n:
            c = s[j]
            if square:
                square = c != ']'
            elif c == '[' and colon < 0:
                square = True
            elif c == '{':
                depth += 1
            elif c == '}':
                depth -= 1
                if not depth:
                    break
            elif depth == 1 and colon < 0:
                if c == ':':
                    colon = j
                elif c == '!' and bang < 0:
                    bang = j
            j += 1
        if depth:
            raise ValueError("expected '}' before end of string")
        end = bang if bang >= 0 else colon if colon >= 0 else j
        conv = None
        if bang >= 0:
            conv = s[bang + 1:colon if colon >= 0 else j]
            if not conv:
                raise ValueError("end of string while looking for conversion specifier" if bang + 1 >= n else "unmatched '{' in format spec")
            if len(conv) > 1:
                raise ValueError("expected ':' after conversion specifier")
        yield text, s[i + 1:end], s[colon + 1:j] if colon >= 0 else '', conv
        text, i = '', j + 1
    if text:
        yield text, None, None, None


@native
def formatter_field_name_split(name):
    i = 0
    while i < len(name) and name[i] not in '.[':
        i += 1
    first = name[:i]
    rest = []
    while i < len(name):
        if name[i] == '.':
            j = i + 1
            while j < len(name) and name[j] not in '.[':
                j += 1
            rest.append((True, name[i + 1:j]))
            i = j
        elif name[i] == '[':
            j = name.find(']', i)
            if j < 0:
                raise ValueError("Missing ']' in format string")
            k = name[i + 1:j]
            rest.append((False, int(k) if k.isdigit() else k))
            i = j + 1
        else:
            raise ValueError("Only '.' or '[' may follow ']' in format field specifier")
        if not rest[-1][1] and rest[-1][1] != 0:
            raise ValueError("Empty attribute in format string")
    return int(first) if first.isdigit() else first, rest

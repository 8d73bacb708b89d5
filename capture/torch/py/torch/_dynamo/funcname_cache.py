"""The function in which a line of a file stands."""
import tokenize

cache = {}


def clearcache():
    cache.clear()


def _add_file(filename):
    """Reads which lines belong to which function: def and class open a scope that ends where the indentation goes back."""
    try:
        with tokenize.open(filename) as f:
            tokens = list(tokenize.generate_tokens(f.readline))
    except (OSError, tokenize.TokenError):
        cache[filename] = []
        return
    found, open_, level, named, last = [], [], 0, "", 0
    for i, t in enumerate(tokens):
        if t.type == tokenize.INDENT:
            level += 1
            open_.append((named, t.start[0]))
            named = ""
        elif t.type == tokenize.DEDENT:
            level -= 1
            name, start = open_.pop()
            if name:
                path = ".".join([n for n, _ in open_ if n] + [name])
                found.append((start, last, path))
        elif t.type == tokenize.NAME and t.string in ("def", "class"):
            named = tokens[i + 1].string
        elif t.type == tokenize.NEWLINE:
            last = t.end[0]
    cache[filename] = found


def get_funcname(filename, lineno):
    if filename not in cache:
        _add_file(filename)
    inside = [(end - start, path) for start, end, path in cache[filename] if start <= lineno <= end]
    return min(inside)[1] if inside else None

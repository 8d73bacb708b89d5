"""literal_eval only."""


def literal_eval(s):
    if not isinstance(s, str):
        raise ValueError('malformed node or string: %r' % (s,))
    c = compile(s.strip(), '<unknown>', 'eval')
    if c.co_names:
        raise ValueError('malformed node or string: %s' % s)
    return eval(c, {'__builtins__': {}})

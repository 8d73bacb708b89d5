"""Options of a command line, in the old style."""


class GetoptError(Exception):
    def __init__(self, msg, opt=''):
        self.msg, self.opt = msg, opt
        super().__init__(msg, opt)

    def __str__(self): return self.msg


error = GetoptError


def _long(name, longopts):
    if name in longopts:
        return name, False
    if name + '=' in longopts:
        return name, True
    found = [o for o in longopts if o.startswith(name)]
    if not found:
        raise GetoptError(f'option --{name} not recognized', name)
    if len(found) > 1:
        raise GetoptError(f'option --{name} not a unique prefix', name)
    return found[0].removesuffix('='), found[0].endswith('=')


def _one(args, shortopts, longopts, opts):
    a = args.pop(0)
    if a.startswith('--'):
        name, eq, value = a[2:].partition('=')
        name, wants = _long(name, longopts)
        if wants:
            if not eq:
                if not args:
                    raise GetoptError(f'option --{name} requires argument', name)
                value = args.pop(0)
        elif eq:
            raise GetoptError(f'option --{name} must not have an argument', name)
        opts.append(('--' + name, value))
        return
    rest = a[1:]
    while rest:
        c, rest = rest[0], rest[1:]
        i = shortopts.find(c)
        if i < 0 or c == ':':
            raise GetoptError(f'option -{c} not recognized', c)
        value = ''
        if shortopts.startswith(':', i + 1):
            if not rest:
                if not args:
                    raise GetoptError(f'option -{c} requires argument', c)
                rest = args.pop(0)
            value, rest = rest, ''
        opts.append(('-' + c, value))


def getopt(args, shortopts, longopts=[]):
    args, opts = list(args), []
    longopts = [longopts] if isinstance(longopts, str) else list(longopts)
    while args and args[0].startswith('-') and args[0] != '-':
        if args[0] == '--':
            return opts, args[1:]
        _one(args, shortopts, longopts, opts)
    return opts, args


def gnu_getopt(args, shortopts, longopts=[]):
    args, opts, rest = list(args), [], []
    longopts = [longopts] if isinstance(longopts, str) else list(longopts)
    first = shortopts.startswith('+')
    shortopts = shortopts.removeprefix('+')
    while args:
        if args[0] == '--':
            return opts, rest + args[1:]
        if args[0].startswith('-') and args[0] != '-':
            _one(args, shortopts, longopts, opts)
        elif first:
            return opts, args
        else:
            rest.append(args.pop(0))
    return opts, rest

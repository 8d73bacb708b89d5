"""Command line parsing."""
import sys
import os

SUPPRESS = '==SUPPRESS=='
OPTIONAL, ZERO_OR_MORE, ONE_OR_MORE, REMAINDER, PARSER = '?', '*', '+', '...', 'A...'


class ArgumentError(Exception):
    def __init__(self, argument, message):
        self.argument_name, self.message = argument, message

    def __str__(self): return self.message if self.argument_name is None else 'argument %s: %s' % (self.argument_name, self.message)


class ArgumentTypeError(Exception):
    pass


class Namespace:
    def __init__(self, **kw):
        for k, v in kw.items():
            setattr(self, k, v)

    def __repr__(self): return 'Namespace(%s)' % ', '.join('%s=%r' % i for i in self.__dict__.items())
    def __eq__(self, o): return isinstance(o, Namespace) and vars(self) == vars(o)
    def __contains__(self, k): return k in self.__dict__


class HelpFormatter:
    pass


class RawDescriptionHelpFormatter(HelpFormatter): pass
class RawTextHelpFormatter(HelpFormatter): pass
class ArgumentDefaultsHelpFormatter(HelpFormatter): pass
class MetavarTypeHelpFormatter(HelpFormatter): pass


class Action:
    def __init__(self, option_strings, dest, nargs=None, const=None, default=None, type=None, choices=None, required=False, help=None, metavar=None):
        self.option_strings, self.dest, self.nargs, self.const, self.default = option_strings, dest, nargs, const, default
        self.type, self.choices, self.required, self.help, self.metavar = type, choices, required, help, metavar

    def __call__(self, parser, namespace, values, option_string=None): raise NotImplementedError

    def _name(self):
        if self.option_strings:
            return '/'.join(self.option_strings)
        return self.metavar or self.dest

    def _var(self):
        if self.metavar is not None:
            return self.metavar
        if self.choices is not None:
            return '{%s}' % ','.join(map(str, self.choices))
        return self.dest.upper() if self.option_strings else self.dest

    def _args(self):
        v = self._var()
        n = self.nargs
        if isinstance(v, tuple):
            return ' '.join(v)
        if n is None:
            return v
        if n == 0:
            return ''
        if isinstance(n, int):
            return ' '.join([v] * n)
        return {'?': '[%s]' % v, '*': '[%s ...]' % v, '+': '%s [%s ...]' % (v, v), '...': '...', 'A...': '%s ...' % v}[n]


class _Store(Action):
    def __call__(self, p, ns, values, option_string=None): setattr(ns, self.dest, values)


class _StoreConst(Action):
    def __init__(self, option_strings, dest, const=None, default=None, required=False, help=None, metavar=None):
        super().__init__(option_strings, dest, nargs=0, const=const, default=default, required=required, help=help)

    def __call__(self, p, ns, values, option_string=None): setattr(ns, self.dest, self.const)


class _StoreTrue(_StoreConst):
    def __init__(self, option_strings, dest, default=False, required=False, help=None): super().__init__(option_strings, dest, True, default, required, help)


class _StoreFalse(_StoreConst):
    def __init__(self, option_strings, dest, default=True, required=False, help=None): super().__init__(option_strings, dest, False, default, required, help)


class _Append(Action):
    def __call__(self, p, ns, values, option_string=None): setattr(ns, self.dest, list(getattr(ns, self.dest, None) or []) + [values])


class _Extend(Action):
    def __call__(self, p, ns, values, option_string=None): setattr(ns, self.dest, list(getattr(ns, self.dest, None) or []) + list(values))


class _AppendConst(_StoreConst):
    def __call__(self, p, ns, values, option_string=None): setattr(ns, self.dest, list(getattr(ns, self.dest, None) or []) + [self.const])


class _Count(Action):
    def __init__(self, option_strings, dest, default=None, required=False, help=None):
        super().__init__(option_strings, dest, nargs=0, default=default, required=required, help=help)

    def __call__(self, p, ns, values, option_string=None): setattr(ns, self.dest, (getattr(ns, self.dest, None) or 0) + 1)


class _Help(Action):
    def __init__(self, option_strings, dest=SUPPRESS, default=SUPPRESS, help=None): super().__init__(option_strings, dest, nargs=0, default=default, help=help)

    def __call__(self, parser, ns, values, option_string=None):
        parser.print_help()
        parser.exit()


class _Version(Action):
    def __init__(self, option_strings, version=None, dest=SUPPRESS, default=SUPPRESS, help="show program's version number and exit"):
        super().__init__(option_strings, dest, nargs=0, default=default, help=help)
        self.version = version

    def __call__(self, parser, ns, values, option_string=None):
        print(self.version % {'prog': parser.prog} if '%(prog)s' in self.version else self.version)
        parser.exit()


class BooleanOptionalAction(Action):
    def __init__(self, option_strings, dest, default=None, type=None, choices=None, required=False, help=None, metavar=None):
        opts = []
        for o in option_strings:
            opts.append(o)
            if o.startswith('--'):
                opts.append('--no-' + o[2:])
        super().__init__(opts, dest, nargs=0, default=default, required=required, help=help)

    def __call__(self, p, ns, values, option_string=None): setattr(ns, self.dest, not option_string.startswith('--no-'))


class _SubParsers(Action):
    def __init__(self, option_strings, dest=SUPPRESS, prog=None, parser_class=None, required=False, help=None, metavar=None, title=None, description=None):
        super().__init__(option_strings, dest, nargs=PARSER, required=required, help=help, metavar=metavar)
        self._prog, self._cls = prog, parser_class
        self.choices = {}

    def add_parser(self, name, *, aliases=(), help=None, **kw):
        kw.setdefault('prog', '%s %s' % (self._prog, name))
        p = self._cls(**kw)
        for n in (name,) + tuple(aliases):
            self.choices[n] = p
        return p

    def __call__(self, parser, ns, values, option_string=None):
        name, rest = values[0], values[1:]
        if self.dest is not SUPPRESS:
            setattr(ns, self.dest, name)
        if name not in self.choices:
            raise ArgumentError(self._name(), 'unknown parser %r (choices: %s)' % (name, ', '.join(self.choices)))
        sub, extra = self.choices[name].parse_known_args(rest)
        for k, v in vars(sub).items():
            setattr(ns, k, v)
        if extra:
            ns.__dict__.setdefault('_extra', []).extend(extra)


_actions = {None: _Store, 'store': _Store, 'store_const': _StoreConst, 'store_true': _StoreTrue, 'store_false': _StoreFalse, 'append': _Append,
            'append_const': _AppendConst, 'count': _Count, 'help': _Help, 'version': _Version, 'extend': _Extend}


class _Container:
    def add_argument(self, *names, **kw):
        action = kw.pop('action', None)
        cls = _actions.get(action, action) if not callable(action) or action in _actions else action
        if isinstance(action, str) and action not in _actions:
            raise ValueError('unknown action "%s"' % action)
        optional = bool(names) and names[0].startswith('-')
        if optional:
            long = [n for n in names if n.startswith('--')]
            dest = kw.pop('dest', None) or (long or list(names))[0].lstrip('-').replace('-', '_')
            a = cls(list(names), dest=dest, **kw) if cls not in (_Help, _Version) else cls(list(names), **kw)
        else:
            dest = kw.pop('dest', None) or names[0]
            a = cls([], dest=dest, **kw)
            a.required = a.nargs not in (OPTIONAL, ZERO_OR_MORE) and a.nargs != 0
        return self._add(a)

    def add_argument_group(self, title=None, description=None, **kw): return _Group(self, title, description)

    def add_mutually_exclusive_group(self, required=False):
        g = _Group(self, None, None)
        g.exclusive, g.required = [], required
        self._root()._exclusive.append(g)
        return g


class _Group(_Container):
    exclusive = None

    def __init__(self, parent, title, description):
        self.parent, self.title, self.description = parent, title, description
        self.actions = []
        if title:
            self._root()._groups.append(self)

    def _root(self): return self.parent._root()

    def _add(self, a):
        if self.exclusive is not None:
            self.exclusive.append(a)
        self.actions.append(a)
        self._root()._register(a, self if self.title else None)
        return a

    def set_defaults(self, **kw): self._root().set_defaults(**kw)


class ArgumentParser(_Container):
    def __init__(self, prog=None, usage=None, description=None, epilog=None, parents=(), formatter_class=HelpFormatter, prefix_chars='-',
                 fromfile_prefix_chars=None, argument_default=None, conflict_handler='error', add_help=True, allow_abbrev=True, exit_on_error=True):
        self.prog = prog or os.path.basename(sys.argv[0] if sys.argv else '')
        self.usage, self.description, self.epilog, self.argument_default = usage, description, epilog, argument_default
        self._opts, self._all, self._pos, self._defaults, self._groups, self._exclusive, self._titled = {}, [], [], {}, [], [], set()
        self.formatter_class, self.exit_on_error = formatter_class, exit_on_error
        if add_help:
            self.add_argument('-h', '--help', action='help', help='show this help message and exit')
        for p in parents:
            for a in p._all:
                if not isinstance(a, _Help):
                    self._register(a, None)
            self._defaults.update(p._defaults)

    def _root(self): return self

    def _add(self, a):
        self._register(a, None)
        return a

    def _register(self, a, group):
        for o in a.option_strings:
            if o in self._opts:
                raise ArgumentError(a._name(), 'conflicting option string: %s' % o)
            self._opts[o] = a
        if not a.option_strings:
            self._pos.append(a)
        self._all.append(a)
        if group is not None:
            self._titled.add(id(a))

    def add_subparsers(self, **kw):
        kw.setdefault('parser_class', type(self))
        kw.setdefault('prog', self.prog)
        a = _SubParsers([], **kw)
        self._register(a, None)
        return a

    def set_defaults(self, **kw):
        self._defaults.update(kw)
        for a in self._all:
            if a.dest in kw:
                a.default = kw[a.dest]

    def get_default(self, dest):
        for a in self._all:
            if a.dest == dest and a.default is not None:
                return a.default
        return self._defaults.get(dest)

    def parse_args(self, args=None, namespace=None):
        ns, rest = self.parse_known_args(args, namespace)
        if rest:
            self.error('unrecognized arguments: %s' % ' '.join(rest))
        return ns

    def _convert(self, a, s):
        v = s
        if a.type is not None:
            try:
                v = a.type(s)
            except ArgumentTypeError as e:
                raise ArgumentError(a._name(), str(e))
            except (TypeError, ValueError):
                raise ArgumentError(a._name(), 'invalid %s value: %r' % (getattr(a.type, '__name__', repr(a.type)), s))
        if a.choices is not None and v not in a.choices:
            raise ArgumentError(a._name(), 'invalid choice: %r (choose from %s)' % (v, ', '.join(map(repr, a.choices))))
        return v

    def _looks_option(self, s):
        if not s.startswith('-') or s == '-':
            return False
        if s in self._opts or '=' in s and s.split('=', 1)[0] in self._opts:
            return True
        try:
            float(s)
            return any(o[1:2].isdigit() for o in self._opts)
        except ValueError:
            return ' ' not in s

    def parse_known_args(self, args=None, namespace=None):
        try:
            return self._parse(list(sys.argv[1:] if args is None else args), namespace or Namespace())
        except ArgumentError as e:
            if not self.exit_on_error:
                raise
            self.error(str(e))

    def _parse(self, args, ns):
        for a in self._all:
            if a.dest is not SUPPRESS and a.default is not SUPPRESS and not hasattr(ns, a.dest):
                setattr(ns, a.dest, a.default if a.default is not None else self.argument_default)
        for k, v in self._defaults.items():
            if not hasattr(ns, k):
                setattr(ns, k, v)
        seen, extras = set(), []
        positionals = []
        i = 0
        pending = list(self._pos)

        def take(a, avail):
            n = a.nargs
            if n is None:
                return 1 if avail else None
            if isinstance(n, int):
                return n if len(avail) >= n else None
            if n == OPTIONAL:
                return min(1, len(avail))
            if n == ZERO_OR_MORE:
                return len(avail)
            return len(avail) if avail else None

        def run_positionals(chunk, final):
            # As many as the chunk can feed, later ones keeping their minimum.
            nonlocal pending
            while pending:
                a = pending[0]
                need = 0
                for b in pending[1:]:
                    need += b.nargs if isinstance(b.nargs, int) else 0 if b.nargs in (OPTIONAL, ZERO_OR_MORE) else 1
                avail = chunk[:max(len(chunk) - need, 0)] if a.nargs in (OPTIONAL, ZERO_OR_MORE, ONE_OR_MORE) else chunk
                n = take(a, avail)
                if n is None or n == 0 and not final:
                    break
                vals, chunk = chunk[:n], chunk[n:]
                pending = pending[1:]
                if n == 0 and a.nargs in (OPTIONAL, ZERO_OR_MORE):
                    if a.nargs == ZERO_OR_MORE and a.default is None:
                        setattr(ns, a.dest, [])
                    elif isinstance(a.default, str):
                        setattr(ns, a.dest, self._convert(a, a.default))
                    continue
                seen.add(id(a))
                if a.nargs in (None, OPTIONAL):
                    v = self._convert(a, vals[0])
                elif a.nargs == PARSER:
                    v = vals
                else:
                    v = [self._convert(a, x) for x in vals]
                a(self, ns, v)
            return chunk

        chunk = []
        while i < len(args):
            s = args[i]
            if pending and chunk == [] and pending[0].nargs in (REMAINDER, PARSER) and not (pending[0].nargs == PARSER and self._looks_option(s)):
                a = pending.pop(0)
                vals = args[i:]
                seen.add(id(a))
                a(self, ns, vals)
                i = len(args)
                continue
            if s == '--':
                chunk += args[i + 1:]
                break
            if not self._looks_option(s):
                chunk.append(s)
                i += 1
                continue
            if chunk:
                rest = run_positionals(chunk, False)
                chunk = rest
            name, eq, val = s.partition('=')
            a = self._opts.get(s)
            explicit = None
            if a is None and eq and name in self._opts:
                a, explicit, s = self._opts[name], val, name
            if a is None and s.startswith('--'):
                m = [o for o in self._opts if o.startswith(name) and o.startswith('--')]
                if len({id(self._opts[o]) for o in m}) > 1 and len(m) > 1:
                    raise ArgumentError(None, 'ambiguous option: %s could match %s' % (s, ', '.join(m)))
                if m:
                    a, s = self._opts[m[0]], m[0]
                    explicit = val if eq else None
            if a is None and len(s) > 2 and not s.startswith('--') and s[:2] in self._opts:
                a = self._opts[s[:2]]
                if a.nargs == 0:
                    args[i:i + 1] = [s[:2], '-' + s[2:]]
                    s = s[:2]
                else:
                    explicit, s = s[2:], s[:2]
            i += 1
            if a is None:
                extras.append(args[i - 1])
                continue
            seen.add(id(a))
            n = a.nargs
            if explicit is not None:
                if n == 0:
                    raise ArgumentError(a._name(), 'ignored explicit argument %r' % explicit)
                vals = [explicit]
            else:
                vals = []
                limit = 1 if n in (None, OPTIONAL) else n if isinstance(n, int) else None
                while i < len(args) and (limit is None or len(vals) < limit) and not (self._looks_option(args[i]) and n != REMAINDER) and args[i] != '--':
                    vals.append(args[i])
                    i += 1
                if n is None and not vals:
                    raise ArgumentError(a._name(), 'expected one argument')
                if isinstance(n, int) and len(vals) != n:
                    raise ArgumentError(a._name(), 'expected %s argument%s' % (n, '' if n == 1 else 's'))
                if n == ONE_OR_MORE and not vals:
                    raise ArgumentError(a._name(), 'expected at least one argument')
            if n == 0:
                v = []
            elif n is None:
                v = self._convert(a, vals[0])
            elif n == OPTIONAL:
                v = self._convert(a, vals[0]) if vals else a.const
            else:
                v = [self._convert(a, x) for x in vals]
            for g in self._exclusive:
                if a in g.exclusive:
                    for b in g.exclusive:
                        if b is not a and id(b) in seen:
                            raise ArgumentError(a._name(), 'not allowed with argument %s' % b._name())
            a(self, ns, v, s)
        extras = run_positionals(chunk, True) + extras
        missing = [a._name() for a in self._all if a.required and id(a) not in seen and (a.option_strings or a in pending)]
        if missing:
            raise ArgumentError(None, 'the following arguments are required: %s' % ', '.join(missing))
        for g in self._exclusive:
            if g.required and not any(id(a) in seen for a in g.exclusive):
                raise ArgumentError(None, 'one of the arguments %s is required' % ' '.join(a._name() for a in g.exclusive))
        for a in self._all:
            if id(a) not in seen and isinstance(a.default, str) and a.type is not None and getattr(ns, a.dest, None) is a.default:
                setattr(ns, a.dest, self._convert(a, a.default))
        return ns, extras + ns.__dict__.pop('_extra', [])

    def format_usage(self):
        if self.usage:
            return 'usage: ' + self.usage.replace('%(prog)s', self.prog) + '\n'
        parts = []

        def option(a):
            x = a._args()
            return a.option_strings[0] + (' ' + x if x else '')
        together = {}
        for g in self._exclusive:
            shown = [a for a in g.exclusive if a.help is not SUPPRESS]
            options = [a for a in self._all if a.option_strings and a.help is not SUPPRESS]
            if len(shown) > 1 and all(a.option_strings for a in shown):
                i = options.index(shown[0])
                if options[i:i + len(shown)] == shown: # only neighbours are shown as alternatives
                    together.update((id(a), g) for a in shown)
        for a in self._all:
            if a.option_strings and a.help is not SUPPRESS:
                g = together.get(id(a))
                if g is None:
                    parts.append(option(a) if a.required else '[%s]' % option(a))
                elif a is [b for b in g.exclusive if b.help is not SUPPRESS][0]:
                    s = ' | '.join(option(b) for b in g.exclusive if b.help is not SUPPRESS)
                    parts.append('(%s)' % s if g.required else '[%s]' % s)
        for a in self._pos:
            if a.help is not SUPPRESS:
                parts.append(a._args())
        line = 'usage: ' + ' '.join([self.prog] + parts)
        if len(line) <= 78:
            return line + '\n'
        out, cur, ind = [], 'usage: ' + self.prog, ' ' * (len('usage: ' + self.prog) + 1)
        for p in parts:
            if len(cur) + 1 + len(p) > 78:
                out.append(cur)
                cur = ind + p
            else:
                cur += ' ' + p
        return '\n'.join(out + [cur]) + '\n'

    def format_help(self):
        import textwrap
        out = [self.format_usage()]
        if self.description:
            out.append('\n' + self.description.strip() + '\n')

        def invocation(a):
            if not a.option_strings:
                return a._var()
            x = a._args()
            return ', '.join(o + (' ' + x if x else '') for o in a.option_strings)
        column = min(max([len(invocation(a)) + 4 for a in self._all + self._pos if a.help is not SUPPRESS] + [0]), 24)

        def section(title, acts):
            acts = [a for a in acts if a.help is not SUPPRESS]
            if not acts:
                return
            out.append('\n%s:\n' % title)
            for a in acts:
                inv = invocation(a)
                h = (a.help or '')
                if '%' in h:
                    d = dict(vars(a), prog=self.prog)
                    h = h % d
                if not h:
                    out.append('  %s\n' % inv)
                    continue
                lines = textwrap.wrap(h, 78 - column) or ['']
                if len(inv) <= column - 4:
                    out.append('  %-*s  %s\n' % (column - 4, inv, lines.pop(0)))
                else:
                    out.append('  %s\n' % inv)
                out.append(''.join(' ' * column + l + '\n' for l in lines))
        section('positional arguments', [a for a in self._pos if id(a) not in self._titled])
        section('options', [a for a in self._all if a.option_strings and id(a) not in self._titled])
        for g in self._groups:
            section(g.title, g.actions)
        if self.epilog:
            out.append('\n' + self.epilog.strip() + '\n')
        return ''.join(out)

    def print_usage(self, file=None): (file or sys.stdout).write(self.format_usage())
    def print_help(self, file=None): (file or sys.stdout).write(self.format_help())

    def exit(self, status=0, message=None):
        if message:
            sys.stderr.write(message)
        sys.exit(status)

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(2, '%s: error: %s\n' % (self.prog, message))


class FileType:
    def __init__(self, mode='r', *a, **k): self._mode = mode
    def __call__(self, s): return sys.stdin if s == '-' else open(s, self._mode)

"""Looking at live objects."""
import sys
import types
import functools
import _whittle
from types import (FunctionType, MethodType, CodeType, BuiltinFunctionType, ModuleType, GeneratorType, FrameType, TracebackType, MethodDescriptorType,
                   GetSetDescriptorType, MemberDescriptorType)

CO_OPTIMIZED, CO_NEWLOCALS, CO_VARARGS, CO_VARKEYWORDS, CO_NESTED, CO_GENERATOR = 1, 2, 4, 8, 16, 32


class _empty:
    pass


class _ParameterKind(int):
    def __new__(cls, v, name):
        self = int.__new__(cls, v)
        self.name = name
        return self

    def __str__(self): return self.name
    __repr__ = lambda self: f'<_ParameterKind.{self.name}: {int(self)}>'
    description = property(lambda s: ('positional-only', 'positional or keyword', 'variadic positional', 'keyword-only', 'variadic keyword')[int(s)])


_kinds = [_ParameterKind(i, n) for i, n in enumerate(('POSITIONAL_ONLY', 'POSITIONAL_OR_KEYWORD', 'VAR_POSITIONAL', 'KEYWORD_ONLY', 'VAR_KEYWORD'))]


def formatannotation(a, base_module=None):
    if getattr(a, '__module__', None) == 'typing':
        return repr(a).replace('typing.', '')
    if isinstance(a, types.GenericAlias):
        return str(a)
    if isinstance(a, type):
        return a.__qualname__ if a.__module__ in ('builtins', base_module) else a.__module__ + '.' + a.__qualname__
    return repr(a)


class Parameter:
    POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD, VAR_POSITIONAL, KEYWORD_ONLY, VAR_KEYWORD = _kinds
    empty = _empty

    def __init__(self, name, kind, *, default=_empty, annotation=_empty):
        self.name, self.kind, self.default, self.annotation = name, _kinds[int(kind)], default, annotation

    def replace(self, *, name=_empty, kind=_empty, annotation=_empty, default=_empty):
        return Parameter(self.name if name is _empty else name, self.kind if kind is _empty else kind,
                         default=self.default if default is _empty else default, annotation=self.annotation if annotation is _empty else annotation)

    def __str__(self):
        s = self.name
        if self.annotation is not _empty:
            s += ': ' + formatannotation(self.annotation)
        if self.default is not _empty:
            s += (' = ' if self.annotation is not _empty else '=') + repr(self.default)
        return {2: '*', 4: '**'}.get(int(self.kind), '') + s

    def __repr__(self): return '<Parameter "%s">' % self
    def __eq__(self, o): return isinstance(o, Parameter) and (self.name, self.kind, self.default, self.annotation) == (o.name, o.kind, o.default, o.annotation)
    def __hash__(self): return hash((self.name, int(self.kind)))


class BoundArguments:
    def __init__(self, signature, arguments): self.signature, self.arguments = signature, arguments

    @property
    def args(self):
        out = []
        for n, p in self.signature.parameters.items():
            if p.kind in (3, 4) or n not in self.arguments:
                break
            if p.kind == 2:
                out.extend(self.arguments[n])
            else:
                out.append(self.arguments[n])
        return tuple(out)

    @property
    def kwargs(self):
        out = {}
        started = False
        for n, p in self.signature.parameters.items():
            if not started:
                if p.kind in (3, 4):
                    started = True
                elif n not in self.arguments:
                    started = True
                    continue
            if not started or n not in self.arguments:
                continue
            if p.kind == 4:
                out.update(self.arguments[n])
            else:
                out[n] = self.arguments[n]
        return out

    def apply_defaults(self):
        new = {}
        for n, p in self.signature.parameters.items():
            if n in self.arguments:
                new[n] = self.arguments[n]
            elif p.default is not _empty:
                new[n] = p.default
            elif p.kind == 2:
                new[n] = ()
            elif p.kind == 4:
                new[n] = {}
        self.arguments = new

    def __repr__(self): return '<BoundArguments (%s)>' % ', '.join('%s=%r' % i for i in self.arguments.items())
    def __eq__(self, o): return isinstance(o, BoundArguments) and self.arguments == o.arguments


class Signature:
    empty = _empty

    def __init__(self, parameters=None, *, return_annotation=_empty, __validate_parameters__=True):
        self.parameters = types.MappingProxyType({p.name: p for p in parameters or ()})
        self.return_annotation = return_annotation

    @classmethod
    def from_callable(cls, obj, *, follow_wrapped=True, globals=None, locals=None, eval_str=False): return signature(obj, follow_wrapped=follow_wrapped)

    def replace(self, *, parameters=_empty, return_annotation=_empty):
        return Signature(self.parameters.values() if parameters is _empty else parameters,
                         return_annotation=self.return_annotation if return_annotation is _empty else return_annotation)

    def _bind(self, args, kwargs, partial=False):
        arguments = {}
        args = list(args)
        kwargs = dict(kwargs)
        params = list(self.parameters.values())
        vk = None
        for p in params:
            if p.kind == 2:
                if args:
                    arguments[p.name] = tuple(args)
                    args = []
            elif p.kind == 4:
                vk = p
            elif p.kind != 3 and args:
                if p.name in kwargs and p.kind == 1:
                    raise TypeError('multiple values for argument %r' % p.name)
                arguments[p.name] = args.pop(0)
            elif p.name in kwargs and p.kind != 0:
                arguments[p.name] = kwargs.pop(p.name)
            elif p.default is _empty and not partial:
                raise TypeError('missing a required %sargument: %r' % ('keyword-only ' if p.kind == 3 and False else '', p.name))
        if args:
            raise TypeError('too many positional arguments')
        if kwargs:
            if vk is None:
                raise TypeError('got an unexpected keyword argument %r' % next(iter(kwargs)))
            arguments[vk.name] = kwargs
        return BoundArguments(self, arguments)

    def bind(self, /, *args, **kwargs): return self._bind(args, kwargs)
    def bind_partial(self, /, *args, **kwargs): return self._bind(args, kwargs, True)

    def __str__(self):
        out, star, slash = [], False, False
        ps = list(self.parameters.values())
        for i, p in enumerate(ps):
            if p.kind == 3 and not star:
                out.append('*')
                star = True
            if p.kind == 2:
                star = True
            out.append(str(p))
            if p.kind == 0 and (i + 1 == len(ps) or ps[i + 1].kind != 0):
                out.append('/')
        s = '(%s)' % ', '.join(out)
        if self.return_annotation is not _empty:
            s += ' -> ' + formatannotation(self.return_annotation)
        return s

    def __repr__(self): return '<%s %s>' % (self.__class__.__name__, self)
    def __eq__(self, o): return isinstance(o, Signature) and list(self.parameters.values()) == list(o.parameters.values()) and self.return_annotation == o.return_annotation


def unwrap(func, *, stop=None):
    while hasattr(func, '__wrapped__') and not (stop and stop(func)):
        func = func.__wrapped__
    return func


def _from_function(f):
    c = f.__code__
    names = c.co_varnames
    n, po, ko = c.co_argcount, c.co_posonlyargcount, c.co_kwonlyargcount
    ann = f.__annotations__
    defs = f.__defaults__ or ()
    kwd = f.__kwdefaults__ or {}
    ps = []
    for i in range(n):
        d = defs[i - (n - len(defs))] if i >= n - len(defs) else _empty
        ps.append(Parameter(names[i], 0 if i < po else 1, default=d, annotation=ann.get(names[i], _empty)))
    k = n + ko
    if c.co_flags & 4:
        ps.append(Parameter(names[k], 2, annotation=ann.get(names[k], _empty)))
        k += 1
    for i in range(n, n + ko):
        ps.append(Parameter(names[i], 3, default=kwd.get(names[i], _empty), annotation=ann.get(names[i], _empty)))
    if c.co_flags & 8:
        ps.append(Parameter(names[k], 4, annotation=ann.get(names[k], _empty)))
    return Signature(ps, return_annotation=ann.get('return', _empty))


def signature(obj, *, follow_wrapped=True, globals=None, locals=None, eval_str=False):
    if not callable(obj):
        raise TypeError('%r is not a callable object' % (obj,))
    if isinstance(obj, MethodType):
        s = signature(obj.__func__)
        return s.replace(parameters=list(s.parameters.values())[1:])
    sig = getattr(obj, '__signature__', None)
    if isinstance(sig, Signature):
        return sig
    if follow_wrapped:
        w = unwrap(obj, stop=lambda f: hasattr(f, '__signature__'))
        if w is not obj:
            return signature(w)
    if isinstance(obj, FunctionType):
        return _from_function(obj)
    if isinstance(obj, functools.partial):
        s = signature(obj.func)
        ps = []
        n = len(obj.args)
        kwonly = False
        for p in s.parameters.values():
            if n > 0 and p.kind in (0, 1):
                n -= 1
                continue
            if p.name in obj.keywords:
                p = p.replace(default=obj.keywords[p.name], kind=3)
                kwonly = True
            elif kwonly and p.kind == 1:
                p = p.replace(kind=3)
            ps.append(p)
        return s.replace(parameters=ps)
    if isinstance(obj, type):
        for name in ('__new__', '__init__'):
            f = getattr(obj, name, None)
            if isinstance(f, FunctionType):
                s = signature(f)
                return s.replace(parameters=list(s.parameters.values())[1:])
        if obj.__init__ is object.__init__ and obj.__new__ is object.__new__:
            return Signature()
        raise ValueError('no signature found for builtin type %r' % (obj,))
    call = getattr(type(obj), '__call__', None)
    if isinstance(call, FunctionType):
        s = signature(call)
        return s.replace(parameters=list(s.parameters.values())[1:])
    raise ValueError('no signature found for builtin %r' % (obj,))


class FullArgSpec(tuple):
    args = property(lambda s: s[0])
    varargs = property(lambda s: s[1])
    varkw = property(lambda s: s[2])
    defaults = property(lambda s: s[3])
    kwonlyargs = property(lambda s: s[4])
    kwonlydefaults = property(lambda s: s[5])
    annotations = property(lambda s: s[6])


def getfullargspec(func):
    s = signature(func, follow_wrapped=False)
    args, va, vk, ko, kd, defs, ann = [], None, None, [], {}, [], {}
    if isinstance(func, MethodType):
        args.append('self')
    for p in s.parameters.values():
        if p.kind in (0, 1):
            args.append(p.name)
            if p.default is not _empty:
                defs.append(p.default)
        elif p.kind == 2:
            va = p.name
        elif p.kind == 3:
            ko.append(p.name)
            if p.default is not _empty:
                kd[p.name] = p.default
        else:
            vk = p.name
        if p.annotation is not _empty:
            ann[p.name] = p.annotation
    return FullArgSpec((args, va, vk, tuple(defs) or None, ko, kd or None, ann))


def isfunction(o): return isinstance(o, FunctionType)
def ismethod(o): return isinstance(o, MethodType)
def isclass(o): return isinstance(o, type)
def ismodule(o): return isinstance(o, ModuleType)
def isbuiltin(o): return isinstance(o, BuiltinFunctionType)
def isroutine(o): return isinstance(o, (BuiltinFunctionType, FunctionType, MethodType, MethodDescriptorType))
def iscode(o): return isinstance(o, CodeType)
def isframe(o): return isinstance(o, FrameType)
def istraceback(o): return isinstance(o, TracebackType)
def isgenerator(o): return isinstance(o, GeneratorType)
def isgeneratorfunction(o): return isinstance(o, FunctionType) and bool(o.__code__.co_flags & 32)
def iscoroutinefunction(o): return False
def iscoroutine(o): return False
def isawaitable(o): return False
def isasyncgenfunction(o): return False
def isasyncgen(o): return False
def isabstract(o): return isinstance(o, type) and bool(getattr(o, '__abstractmethods__', ()))
def ismethoddescriptor(o): return isinstance(o, MethodDescriptorType)
def isdatadescriptor(o): return not isinstance(o, (type, FunctionType, MethodType)) and (hasattr(type(o), '__set__') or hasattr(type(o), '__delete__') or isinstance(o, (property, GetSetDescriptorType, MemberDescriptorType)))
def isgetsetdescriptor(o): return isinstance(o, GetSetDescriptorType)
def ismemberdescriptor(o): return isinstance(o, MemberDescriptorType)


def getmembers(obj, predicate=None):
    out = []
    for n in dir(obj):
        try:
            v = getattr(obj, n)
        except AttributeError:
            continue
        if predicate is None or predicate(v):
            out.append((n, v))
    return out


getmembers_static = getmembers


def getattr_static(obj, attr, default=_empty):
    d = getattr(obj, '__dict__', {})
    klass = obj if isinstance(obj, type) else type(obj)
    if attr in d:
        return d[attr]
    for k in klass.__mro__:
        if attr in k.__dict__:
            return k.__dict__[attr]
    if default is not _empty:
        return default
    raise AttributeError(attr)


def getmro(cls): return cls.__mro__


def cleandoc(doc):
    lines = doc.expandtabs().split('\n')
    margin = min([len(l) - len(l.lstrip()) for l in lines[1:] if l.strip()], default=0)
    lines = [lines[0].lstrip()] + [l[margin:] for l in lines[1:]]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return '\n'.join(lines)


def getdoc(o):
    d = getattr(o, '__doc__', None)
    return cleandoc(d) if isinstance(d, str) else None


def getfile(o):
    if isinstance(o, ModuleType):
        if getattr(o, '__file__', None):
            return o.__file__
        raise TypeError('{!r} is a built-in module'.format(o))
    if isinstance(o, type):
        m = sys.modules.get(o.__module__)
        if m is not None and getattr(m, '__file__', None):
            return m.__file__
        raise TypeError('{!r} is a built-in class'.format(o))
    if isinstance(o, MethodType):
        o = o.__func__
    if isinstance(o, FunctionType):
        o = o.__code__
    if isinstance(o, TracebackType):
        o = o.tb_frame
    if isinstance(o, FrameType):
        o = o.f_code
    if isinstance(o, CodeType):
        return o.co_filename
    raise TypeError('module, class, method, function, traceback, frame, or code object was expected, got {}'.format(type(o).__name__))


def getsourcefile(o): return getfile(o)


def getmodule(o, _filename=None):
    if isinstance(o, ModuleType):
        return o
    if hasattr(o, '__module__'):
        return sys.modules.get(o.__module__)
    try:
        f = getfile(o)
    except TypeError:
        return None
    for m in list(sys.modules.values()):
        if getattr(m, '__file__', None) == f:
            return m
    return None


def getmodulename(path):
    n = path.rpartition('/')[2]
    return n[:-3] if n.endswith('.py') else None


def findsource(o):
    f = getfile(o)
    t = _whittle.source_text(f)
    if t is None:  # in no file: what linecache holds, or the module's loader gives
        import linecache
        m = getmodule(o, f)
        t = ''.join(linecache.getlines(f, m.__dict__ if m else None))
    if not t:
        raise OSError('could not get source code')
    lines = t.splitlines(True)
    if isinstance(o, ModuleType):
        return lines, 0
    if isinstance(o, type):
        import re
        name = o.__qualname__.rpartition('.')[2]
        for i, l in enumerate(lines):
            if re.match(r'\s*class\s+' + name + r'\b', l):
                while i > 0 and lines[i - 1].lstrip().startswith('@'):
                    i -= 1
                return lines, i
        raise OSError('could not find class definition')
    if isinstance(o, MethodType):
        o = o.__func__
    if isinstance(o, FunctionType):
        o = o.__code__
    if isinstance(o, TracebackType):
        return lines, o.tb_lineno - 1
    if isinstance(o, FrameType):
        o = o.f_code
    return lines, o.co_firstlineno - 1


def getblock(lines):
    first = lines[0]
    ind = len(first) - len(first.lstrip())
    i = 0
    depth = 0
    while i < len(lines) and lines[i].lstrip().startswith('@'):
        i += 1
    n = i
    # The header may span lines: it ends with the colon outside brackets.
    for n in range(i, len(lines)):
        code = lines[n].split('#')[0]
        depth += sum(code.count(c) for c in '([{') - sum(code.count(c) for c in ')]}')
        if depth <= 0:
            break
    end = n + 1
    for j in range(n + 1, len(lines)):
        l = lines[j]
        if not l.strip():
            continue
        if len(l) - len(l.lstrip()) <= ind and not l.lstrip().startswith('#'):
            break
        if len(l) - len(l.lstrip()) <= ind:
            break
        end = j + 1
    return lines[:end]


def getsourcelines(o):
    o = unwrap(o)
    lines, n = findsource(o)
    if isinstance(o, ModuleType):
        return lines, 0
    if isinstance(o, FunctionType) and o.__name__ == '<lambda>':
        return [lines[n]], n + 1
    return getblock(lines[n:]), n + 1


def getsource(o): return ''.join(getsourcelines(o)[0])


class Traceback(tuple):
    filename = property(lambda s: s[0])
    lineno = property(lambda s: s[1])
    function = property(lambda s: s[2])
    code_context = property(lambda s: s[3])
    index = property(lambda s: s[4])


class FrameInfo(tuple):
    frame = property(lambda s: s[0])
    filename = property(lambda s: s[1])
    lineno = property(lambda s: s[2])
    function = property(lambda s: s[3])
    code_context = property(lambda s: s[4])
    index = property(lambda s: s[5])


def _context(f, lineno, context):
    t = _whittle.source_text(f)
    if t is None or context <= 0:
        return None, None
    lines = t.splitlines(True)
    start = max(0, min(lineno - 1 - context // 2, len(lines) - context))
    return lines[start:start + context], lineno - 1 - start


def getframeinfo(frame, context=1):
    if isinstance(frame, TracebackType):
        lineno, frame = frame.tb_lineno, frame.tb_frame
    else:
        lineno = frame.f_lineno
    f = frame.f_code.co_filename
    return Traceback((f, lineno, frame.f_code.co_name) + _context(f, lineno, context))


def getouterframes(frame, context=1):
    out = []
    while frame is not None:
        f, n = frame.f_code.co_filename, frame.f_lineno
        out.append(FrameInfo((frame, f, n, frame.f_code.co_name) + _context(f, n, context)))
        frame = frame.f_back
    return out


def stack(context=1): return getouterframes(sys._getframe(1), context)
def currentframe(): return sys._getframe(1)


def trace(context=1):
    tb = sys.exc_info()[2]
    out = []
    while tb is not None:
        f, n = tb.tb_frame.f_code.co_filename, tb.tb_lineno
        out.append(FrameInfo((tb.tb_frame, f, n, tb.tb_frame.f_code.co_name) + _context(f, n, context)))
        tb = tb.tb_next
    return out


class ClosureVars(tuple):
    nonlocals = property(lambda s: s[0])
    globals = property(lambda s: s[1])
    builtins = property(lambda s: s[2])
    unbound = property(lambda s: s[3])


def getclosurevars(func):
    if isinstance(func, MethodType):
        func = func.__func__
    c = func.__code__
    nl = {n: cell.cell_contents for n, cell in zip(c.co_freevars, func.__closure__ or ())}
    g, b, u = {}, {}, set()
    import builtins
    for n in c.co_names:
        if n in func.__globals__:
            g[n] = func.__globals__[n]
        elif hasattr(builtins, n):
            b[n] = getattr(builtins, n)
        else:
            u.add(n)
    return ClosureVars((nl, g, b, u))


def get_annotations(obj, *, globals=None, locals=None, eval_str=False): return dict(getattr(obj, '__annotations__', {}))


def getcallargs(func, /, *args, **kw):
    b = signature(func).bind(*args, **kw)
    b.apply_defaults()
    return b.arguments


def getgeneratorstate(g):
    if g.gi_running:
        return 'GEN_RUNNING'
    return 'GEN_CLOSED' if g.gi_frame is None else 'GEN_SUSPENDED'

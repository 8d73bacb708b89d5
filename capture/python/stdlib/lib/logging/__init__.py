"""Logging."""
import sys
import os
import time
import traceback
import warnings

CRITICAL = FATAL = 50
ERROR = 40
WARNING = WARN = 30
INFO = 20
DEBUG = 10
NOTSET = 0
raiseExceptions = True
_levelToName = {CRITICAL: 'CRITICAL', ERROR: 'ERROR', WARNING: 'WARNING', INFO: 'INFO', DEBUG: 'DEBUG', NOTSET: 'NOTSET'}
_nameToLevel = {'CRITICAL': 50, 'FATAL': 50, 'ERROR': 40, 'WARN': 30, 'WARNING': 30, 'INFO': 20, 'DEBUG': 10, 'NOTSET': 0}
_start = time.time()
BASIC_FORMAT = "%(levelname)s:%(name)s:%(message)s"


def getLevelNamesMapping(): return _nameToLevel.copy()


def getLevelName(level):
    if level in _levelToName:
        return _levelToName[level]
    if level in _nameToLevel:
        return _nameToLevel[level]
    return "Level %s" % level


def addLevelName(level, name):
    _levelToName[level] = name
    _nameToLevel[name] = level


def _check(level):
    if isinstance(level, int):
        return level
    if isinstance(level, str):
        if level not in _nameToLevel:
            raise ValueError("Unknown level: %r" % (level,))
        return _nameToLevel[level]
    raise TypeError("Level not an integer or a valid string: %r" % (level,))


class LogRecord:
    def __init__(self, name, level, pathname, lineno, msg, args, exc_info, func=None, sinfo=None, **kw):
        ct = time.time()
        self.name, self.msg = name, msg
        if args and len(args) == 1 and isinstance(args[0], dict) and args[0]:
            args = args[0]
        self.args, self.levelname, self.levelno, self.pathname = args, getLevelName(level), level, pathname
        self.filename = os.path.basename(pathname)
        self.module = os.path.splitext(self.filename)[0]
        self.exc_info, self.exc_text, self.stack_info, self.lineno, self.funcName = exc_info, None, sinfo, lineno, func
        self.created, self.msecs = ct, (ct - int(ct)) * 1000
        self.relativeCreated = (ct - _start) * 1000
        self.thread, self.threadName, self.processName, self.process = 1, 'MainThread', 'MainProcess', os.getpid()
        self.taskName = None

    def __repr__(self): return '<LogRecord: %s, %s, %s, %s, "%s">' % (self.name, self.levelno, self.pathname, self.lineno, self.msg)

    def getMessage(self):
        msg = str(self.msg)
        return msg % self.args if self.args else msg


_factory = LogRecord


def setLogRecordFactory(f):
    global _factory
    _factory = f


def getLogRecordFactory(): return _factory


def makeLogRecord(d):
    r = _factory(None, None, "", 0, "", (), None, None)
    r.__dict__.update(d)
    return r


class Formatter:
    converter = time.localtime
    default_time_format = '%Y-%m-%d %H:%M:%S'
    default_msec_format = '%s,%03d'

    def __init__(self, fmt=None, datefmt=None, style='%', validate=True, *, defaults=None):
        if style not in ('%', '{', '$'):
            raise ValueError('Style must be one of: %,{,$')
        self._style = style
        self._fmt = fmt or {'%': '%(message)s', '{': '{message}', '$': '${message}'}[style]
        self.datefmt = datefmt
        self._defaults = defaults or {}

    def formatTime(self, record, datefmt=None):
        ct = self.converter(record.created) if self.converter is not time.localtime else time.localtime(record.created)
        if datefmt:
            return time.strftime(datefmt, ct)
        return self.default_msec_format % (time.strftime(self.default_time_format, ct), record.msecs)

    def formatException(self, ei):
        s = ''.join(traceback.format_exception(*ei))
        return s[:-1] if s[-1:] == '\n' else s

    def usesTime(self): return 'asctime' in self._fmt

    def formatMessage(self, record):
        d = {**self._defaults, **record.__dict__}
        if self._style == '%':
            return self._fmt % d
        if self._style == '{':
            return self._fmt.format(**d)
        import string
        return string.Template(self._fmt).substitute(**d)

    def formatStack(self, s): return s

    def format(self, record):
        record.message = record.getMessage()
        if self.usesTime():
            record.asctime = self.formatTime(record, self.datefmt)
        s = self.formatMessage(record)
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            s += ('' if s[-1:] == '\n' else '\n') + record.exc_text
        if record.stack_info:
            s += ('' if s[-1:] == '\n' else '\n') + self.formatStack(record.stack_info)
        return s


_defaultFormatter = Formatter()


class BufferingFormatter:
    def __init__(self, linefmt=None): self.linefmt = linefmt or _defaultFormatter
    def format(self, records): return ''.join(self.linefmt.format(r) for r in records)


class Filter:
    def __init__(self, name=''): self.name = name

    def filter(self, record):
        return not self.name or record.name == self.name or record.name.startswith(self.name + '.')


class Filterer:
    def __init__(self): self.filters = []

    def addFilter(self, f):
        if f not in self.filters:
            self.filters.append(f)

    def removeFilter(self, f):
        if f in self.filters:
            self.filters.remove(f)

    def filter(self, record):
        for f in self.filters:
            if not (f.filter(record) if hasattr(f, 'filter') else f(record)):
                return False
        return True


class Handler(Filterer):
    def __init__(self, level=NOTSET):
        super().__init__()
        self.level, self.formatter, self._name = _check(level), None, None

    name = property(lambda s: s._name, lambda s, n: setattr(s, '_name', n))
    get_name = lambda self: self._name
    def set_name(self, n): self._name = n
    def createLock(self): pass
    def acquire(self): pass
    def release(self): pass
    def setLevel(self, level): self.level = _check(level)
    def format(self, record): return (self.formatter or _defaultFormatter).format(record)
    def emit(self, record): raise NotImplementedError('emit must be implemented by Handler subclasses')

    def handle(self, record):
        if self.filter(record):
            self.emit(record)
            return True
        return False

    def setFormatter(self, fmt): self.formatter = fmt
    def flush(self): pass
    def close(self): pass

    def handleError(self, record):
        if raiseExceptions and sys.stderr:
            sys.stderr.write('--- Logging error ---\n')
            traceback.print_exc()

    def __repr__(self): return '<%s (%s)>' % (self.__class__.__name__, getLevelName(self.level))


class StreamHandler(Handler):
    terminator = '\n'

    def __init__(self, stream=None):
        super().__init__()
        self.stream = sys.stderr if stream is None else stream

    def flush(self):
        if self.stream and hasattr(self.stream, 'flush'):
            self.stream.flush()

    def emit(self, record):
        try:
            self.stream.write(self.format(record) + self.terminator)
            self.flush()
        except RecursionError:
            raise
        except Exception:
            self.handleError(record)

    def setStream(self, stream):
        old, self.stream = self.stream, stream
        return old


class FileHandler(StreamHandler):
    def __init__(self, filename, mode='a', encoding=None, delay=False, errors=None):
        self.baseFilename = os.path.abspath(filename)
        self.mode = mode
        super().__init__(open(self.baseFilename, mode))

    def close(self):
        if self.stream:
            self.stream.close()
            self.stream = None


class NullHandler(Handler):
    def handle(self, record): pass
    def emit(self, record): pass


class _LastResort(StreamHandler):
    def __init__(self, level):
        Handler.__init__(self, level)

    stream = property(lambda self: sys.stderr)


lastResort = _LastResort(WARNING)


class Manager:
    def __init__(self, root):
        self.root, self.loggerDict, self.disable, self.loggerClass = root, {}, 0, None

    def getLogger(self, name):
        if not isinstance(name, str):
            raise TypeError('A logger name must be a string')
        lg = self.loggerDict.get(name)
        if lg is None:
            lg = (self.loggerClass or _loggerClass)(name)
            lg.manager = self
            self.loggerDict[name] = lg
            lg.parent = self._parent(name)
            for n, o in self.loggerDict.items():
                if n.startswith(name + '.') and (o.parent is self.root or not o.parent.name.startswith(name + '.')):
                    o.parent = lg
        return lg

    def _parent(self, name):
        while '.' in name:
            name = name.rpartition('.')[0]
            if name in self.loggerDict:
                return self.loggerDict[name]
        return self.root


_srcfile = __file__


class Logger(Filterer):
    def __init__(self, name, level=NOTSET):
        super().__init__()
        self.name, self.level, self.parent, self.propagate, self.handlers, self.disabled = name, _check(level), None, True, [], False

    def setLevel(self, level): self.level = _check(level)

    def debug(self, msg, *args, **kw):
        if self.isEnabledFor(DEBUG):
            self._log(DEBUG, msg, args, **kw)

    def info(self, msg, *args, **kw):
        if self.isEnabledFor(INFO):
            self._log(INFO, msg, args, **kw)

    def warning(self, msg, *args, **kw):
        if self.isEnabledFor(WARNING):
            self._log(WARNING, msg, args, **kw)

    warn = warning

    def error(self, msg, *args, **kw):
        if self.isEnabledFor(ERROR):
            self._log(ERROR, msg, args, **kw)

    def exception(self, msg, *args, exc_info=True, **kw): self.error(msg, *args, exc_info=exc_info, **kw)

    def critical(self, msg, *args, **kw):
        if self.isEnabledFor(CRITICAL):
            self._log(CRITICAL, msg, args, **kw)

    fatal = critical

    def log(self, level, msg, *args, **kw):
        if not isinstance(level, int):
            raise TypeError("level must be an integer")
        if self.isEnabledFor(level):
            self._log(level, msg, args, **kw)

    def findCaller(self, stack_info=False, stacklevel=1):
        f = sys._getframe(1)
        while f is not None and f.f_code.co_filename == _srcfile:
            f = f.f_back
        while stacklevel > 1 and f is not None and f.f_back is not None:
            f = f.f_back
            stacklevel -= 1
        if f is None:
            return "(unknown file)", 0, "(unknown function)", None
        return f.f_code.co_filename, f.f_lineno, f.f_code.co_name, None

    def makeRecord(self, name, level, fn, lno, msg, args, exc_info, func=None, extra=None, sinfo=None):
        r = _factory(name, level, fn, lno, msg, args, exc_info, func, sinfo)
        if extra is not None:
            for k in extra:
                if k in ("message", "asctime") or k in r.__dict__:
                    raise KeyError("Attempt to overwrite %r in LogRecord" % k)
                r.__dict__[k] = extra[k]
        return r

    def _log(self, level, msg, args, exc_info=None, extra=None, stack_info=False, stacklevel=1):
        fn, lno, func, sinfo = self.findCaller(stack_info, stacklevel)
        if exc_info:
            if isinstance(exc_info, BaseException):
                exc_info = (type(exc_info), exc_info, exc_info.__traceback__)
            elif not isinstance(exc_info, tuple):
                exc_info = sys.exc_info()
        self.handle(self.makeRecord(self.name, level, fn, lno, msg, args, exc_info, func, extra, sinfo))

    def handle(self, record):
        if not self.disabled and self.filter(record):
            self.callHandlers(record)

    def addHandler(self, h):
        if h not in self.handlers:
            self.handlers.append(h)

    def removeHandler(self, h):
        if h in self.handlers:
            self.handlers.remove(h)

    def hasHandlers(self):
        c = self
        while c:
            if c.handlers:
                return True
            if not c.propagate:
                return False
            c = c.parent
        return False

    def callHandlers(self, record):
        c, found = self, 0
        while c:
            for h in c.handlers:
                found += 1
                if record.levelno >= h.level:
                    h.handle(record)
            c = c.parent if c.propagate else None
        if found == 0 and lastResort and record.levelno >= lastResort.level:
            lastResort.handle(record)

    def getEffectiveLevel(self):
        c = self
        while c:
            if c.level:
                return c.level
            c = c.parent
        return NOTSET

    def isEnabledFor(self, level):
        return not self.disabled and self.manager.disable < level and level >= self.getEffectiveLevel()

    def getChild(self, suffix): return self.manager.getLogger(suffix if self.root is self else self.name + '.' + suffix)
    def __repr__(self): return '<%s %s (%s)>' % (self.__class__.__name__, self.name, getLevelName(self.getEffectiveLevel()))


class RootLogger(Logger):
    def __init__(self, level): super().__init__("root", level)


_loggerClass = Logger
root = RootLogger(WARNING)
Logger.root = root
Logger.manager = Manager(root)


def setLoggerClass(k):
    global _loggerClass
    _loggerClass = k


def getLoggerClass(): return _loggerClass


class LoggerAdapter:
    def __init__(self, logger, extra=None): self.logger, self.extra = logger, extra

    def process(self, msg, kw):
        kw["extra"] = self.extra
        return msg, kw

    def log(self, level, msg, *args, **kw):
        if self.logger.isEnabledFor(level):
            msg, kw = self.process(msg, kw)
            self.logger.log(level, msg, *args, **kw)

    def debug(self, msg, *a, **k): self.log(DEBUG, msg, *a, **k)
    def info(self, msg, *a, **k): self.log(INFO, msg, *a, **k)
    def warning(self, msg, *a, **k): self.log(WARNING, msg, *a, **k)
    def error(self, msg, *a, **k): self.log(ERROR, msg, *a, **k)
    def critical(self, msg, *a, **k): self.log(CRITICAL, msg, *a, **k)
    def exception(self, msg, *a, exc_info=True, **k): self.log(ERROR, msg, *a, exc_info=exc_info, **k)
    def isEnabledFor(self, level): return self.logger.isEnabledFor(level)
    def setLevel(self, level): self.logger.setLevel(level)


def basicConfig(**kw):
    force = kw.pop('force', False)
    kw.pop('encoding', None)
    kw.pop('errors', None)
    if force:
        for h in root.handlers[:]:
            root.removeHandler(h)
            h.close()
    if not root.handlers:
        handlers = kw.pop("handlers", None)
        filename, filemode, stream = kw.pop("filename", None), kw.pop("filemode", 'a'), kw.pop("stream", None)
        if handlers is None:
            handlers = [FileHandler(filename, filemode) if filename else StreamHandler(stream)]
        elif stream is not None or filename is not None:
            raise ValueError("'stream' or 'filename' should not be specified together with 'handlers'")
        style = kw.pop("style", '%')
        fmt = Formatter(kw.pop("format", {'%': BASIC_FORMAT, '{': '{levelname}:{name}:{message}', '$': '${levelname}:${name}:${message}'}[style]), kw.pop("datefmt", None), style)
        for h in handlers:
            if h.formatter is None:
                h.setFormatter(fmt)
            root.addHandler(h)
        level = kw.pop("level", None)
        if level is not None:
            root.setLevel(level)
        if kw:
            raise ValueError('Unrecognised argument(s): %s' % ', '.join(kw))


def getLogger(name=None):
    if not name or isinstance(name, str) and name == root.name:
        return root
    return Logger.manager.getLogger(name)


def _root(fn):
    def f(msg, *args, **kw):
        if not root.handlers:
            basicConfig()
        getattr(root, fn)(msg, *args, **kw)
    f.__name__ = fn
    return f


debug, info, warning, error, critical, exception = map(_root, ('debug', 'info', 'warning', 'error', 'critical', 'exception'))
warn, fatal = warning, critical


def log(level, msg, *args, **kw):
    if not root.handlers:
        basicConfig()
    root.log(level, msg, *args, **kw)


def disable(level=CRITICAL): root.manager.disable = _check(level)
def shutdown(handlerList=None): pass


def captureWarnings(capture):
    global _saved
    if capture:
        _saved = warnings.showwarning
        warnings.showwarning = lambda m, c, f, l, file=None, line=None: getLogger("py.warnings").warning("%s", warnings.formatwarning(m, c, f, l, line))
    else:
        warnings.showwarning = _saved

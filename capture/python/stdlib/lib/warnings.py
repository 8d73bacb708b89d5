"""Warnings."""
import sys

filters = []
_registry = set()
_defaultaction = "default"
onceregistry = {}


class WarningMessage:
    def __init__(self, message, category, filename, lineno, file=None, line=None, source=None):
        self.message, self.category, self.filename, self.lineno, self.file, self.line, self.source = message, category, filename, lineno, file, line, source

    def __str__(self):
        return "{message : %r, category : %r, filename : %r, lineno : %s, line : %r}" % (self.message, self.category.__name__, self.filename, self.lineno, self.line)


def formatwarning(message, category, filename, lineno, line=None):
    import _whittle
    s = f"{filename}:{lineno}: {category.__name__}: {message}\n"
    if line is None:
        text = _whittle.source_text(filename)
        if text is not None:
            lines = text.split('\n')
            line = lines[lineno - 1] if 0 < lineno <= len(lines) else None
    if line:
        s += "  %s\n" % line.strip()
    return s


def showwarning(message, category, filename, lineno, file=None, line=None):
    (file or sys.stderr).write(formatwarning(message, category, filename, lineno, line))


_showwarning_orig = showwarning


def filterwarnings(action, message="", category=Warning, module="", lineno=0, append=False):
    _add(action, message, category, module, lineno, append)


def simplefilter(action, category=Warning, lineno=0, append=False):
    _add(action, "", category, "", lineno, append)


def _add(action, message, category, module, lineno, append):
    if action not in ("error", "ignore", "always", "default", "module", "once"):
        raise AssertionError("invalid action: %r" % (action,))
    item = (action, message, category, module, lineno)
    if item in filters:
        filters.remove(item)
    if append:
        filters.append(item)
    else:
        filters.insert(0, item)
    _registry.clear()


def resetwarnings():
    filters[:] = []
    _registry.clear()


def _action(text, category, module, lineno):
    import re
    for action, msg, cat, mod, ln in filters:
        if issubclass(category, cat) and (not msg or re.match(msg, text, re.I)) and (not mod or re.match(mod, module)) and (ln == 0 or ln == lineno):
            return action
    if category in (DeprecationWarning,):
        return "default" if module == "__main__" else "ignore"
    if issubclass(category, (PendingDeprecationWarning, ImportWarning, ResourceWarning)):
        return "ignore"
    return _defaultaction


def warn(message, category=None, stacklevel=1, source=None):
    if isinstance(message, Warning):
        category = message.__class__
    if category is None:
        category = UserWarning
    if not (isinstance(category, type) and issubclass(category, Warning)):
        raise TypeError("category must be a Warning subclass, not '%s'" % type(category).__name__)
    try:
        f = sys._getframe(stacklevel)
        g, filename, lineno = f.f_globals, f.f_code.co_filename, f.f_lineno
    except ValueError:
        g, filename, lineno = sys.__dict__, "sys", 1
    warn_explicit(message, category, filename, lineno, g.get('__name__', '<string>'), source=source)


def warn_explicit(message, category, filename, lineno, module=None, registry=None, module_globals=None, source=None):
    if isinstance(message, Warning):
        text, category = str(message), message.__class__
    else:
        text = message
        message = category(message)
    action = _action(str(text), category, module or '', lineno)
    if action == "ignore":
        return
    if action == "error":
        raise message
    key = {"once": (text, category), "module": (text, category, module)}.get(action, (text, category, filename, lineno))
    if action != "always":
        if key in _registry:
            return
        _registry.add(key)
    msg = WarningMessage(message, category, filename, lineno, source=source)
    if _log is not None:
        _log.append(msg)
        return
    showwarning(message, category, filename, lineno, None, None)


_log = None


class catch_warnings:
    def __init__(self, *, record=False, module=None, action=None, category=Warning, lineno=0, append=False):
        self._record, self._action = record, (action, category, lineno, append)

    def __enter__(self):
        global _log, showwarning
        self._saved = (filters[:], _log, set(_registry), showwarning)
        _registry.clear()
        if self._action[0] is not None:
            simplefilter(*self._action)
        if self._record:
            _log = []
            return _log

    def __exit__(self, *a):
        global _log, showwarning
        filters[:], _log, reg, showwarning = self._saved
        _registry.clear()
        _registry.update(reg)

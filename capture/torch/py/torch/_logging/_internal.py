"""The loggers of torch: TORCH_LOGS, TORCH_LOGS_OUT, TORCH_LOGS_FORMAT, and set_logs."""
import importlib.util
import logging
import os
import re
import sys

from torch._C import _dynamo as _native
from torch._logging._registrations import aliases, artifacts as _known, hidden, logs as _logs, shown

log = logging.getLogger(__name__)

DEFAULT_LOGGING = {
    "dynamo": logging.INFO, "aot": logging.INFO, "inductor": logging.INFO, "fsdp": logging.INFO,
    "ddp_graphs": True, "graph_breaks": True, "guards": True, "recompiles": True, "dynamic": logging.INFO,
}


class LogRegistry:
    """The names of components and artifacts, and the loggers behind them."""

    def __init__(self):
        self.log_alias_to_log_qnames = dict(_logs)
        self.artifact_names = dict(_known)
        self.artifact_log_qnames = {}
        self.child_log_qnames = set()
        self.artifact_log_formatters = {}

    def is_artifact(self, name):
        return name in self.artifact_names

    def is_log(self, alias):
        return alias in self.log_alias_to_log_qnames

    def get_log_qnames(self):
        return {q for qs in self.log_alias_to_log_qnames.values() for q in qs}

    def is_off_by_default(self, name):
        return hidden in self.artifact_names[name][1]


log_registry = LogRegistry()
log_registry.artifact_log_formatters["custom_format_test_artifact"] = logging.Formatter("")


class LogState:
    """What is switched on: levels by logger, and artifacts."""

    def __init__(self):
        self.levels, self.artifacts = {}, set()

    def enable_log(self, qnames, level):
        for q in [qnames] if isinstance(qnames, str) else qnames:
            self.levels[q] = level

    def enable_artifact(self, name):
        self.artifacts.add(name)

    def is_artifact_enabled(self, name):
        return name in self.artifacts

    def clear(self):
        self.levels.clear()
        self.artifacts.clear()


log_state = LogState()


def _config_json(module):
    """The settings of a module as a text for traces; what JSON has no words for is written as Python does."""
    import importlib
    import json

    settings = importlib.import_module(module).get_config_copy()
    return json.dumps({k: v for k, v in settings.items() if k != "TYPE_CHECKING"}, default=lambda v: sorted(v) if isinstance(v, (set, frozenset)) else repr(v), skipkeys=True)


_RESERVED = ("rank", "compiled_autograd_id", "frame_id", "frame_compile_id", "attempt", "severity", "timestamp", "pathname", "thread")


def trace_structured(name, metadata_fn=dict, *, payload_fn=lambda: None, suppress_context=False, expect_trace_id=True):
    """Writes a record of a program's own to the trace under TORCH_TRACE. The functions are called where there is a trace alone."""
    import json
    import sys

    from torch._C import _dynamo as native

    if name in _RESERVED:
        raise AssertionError(name)
    if not callable(metadata_fn):
        raise AssertionError(f"metadata_fn should be callable, but got {type(metadata_fn)}")
    if not callable(payload_fn):
        raise AssertionError(f"payload_fn should be callable, but got {type(payload_fn)}")
    if not native.tracing_structured():
        return
    payload = payload_fn()
    if payload is not None and not isinstance(payload, str):
        payload = json.dumps(payload, indent=0)
    caller = sys._getframe(1)
    stack = None
    if not suppress_context:
        rows, at = [], caller
        while at is not None:
            file = at.f_code.co_filename
            if file.startswith(("/", "<")) and not file.startswith(("/whittle/", "<frozen")):
                rows.insert(0, {"line": at.f_lineno, "name": at.f_code.co_name, "filename": native.interned(file)})
            at = at.f_back
        stack = json.dumps(rows)
    place = caller.f_code.co_filename.rpartition("/")[2]
    native.trace_structured(name, json.dumps(metadata_fn()), payload, stack, not suppress_context, f"{place}:{caller.f_lineno}")


def dtrace_structured(name, metadata_fn=dict, *, payload_fn=lambda: None, suppress_context=False, expect_trace_id=False):
    """trace_structured for those who look for faults in a trace, which TORCH_DTRACE asks for."""
    import os

    if os.environ.get("TORCH_DTRACE"):
        trace_structured(name, metadata_fn, payload_fn=payload_fn, suppress_context=suppress_context, expect_trace_id=expect_trace_id)


def _get_log_state():
    return log_state


def _set_log_state(state):
    global log_state
    log_state = state


trace_log = logging.getLogger("torch.__trace")  # what TORCH_TRACE writes
trace_log.propagate = False


def register_log(setting_name, log_name):
    log_registry.log_alias_to_log_qnames[setting_name] = [log_name] if isinstance(log_name, str) else log_name


def register_artifact(setting_name, description, visible=False, off_by_default=False, log_format=None):
    log_registry.artifact_names[setting_name] = (description, (shown,) * visible + (hidden,) * off_by_default)
    if log_format is not None:
        log_registry.artifact_log_formatters[setting_name] = logging.Formatter(log_format)


def get_loggers():
    return [logging.getLogger(q) for q in log_registry.get_log_qnames()]


def getArtifactLogger(module_qname, artifact_name):
    if artifact_name not in log_registry.artifact_names:
        raise ValueError(f"Artifact name: {artifact_name!r} not registered,please call register_artifact({artifact_name!r}) in torch._logging.registrations.")
    qname = f"{module_qname}.__{artifact_name}"
    new = logging.getLogger(qname)
    new.artifact_name = artifact_name
    if qname not in log_registry.artifact_log_qnames:
        log_registry.artifact_log_qnames[qname] = artifact_name
        _switch(new)
    return new


def _switch(artifact_log):
    # A hidden artifact does not pass its messages on to its component unless it is asked for by name.
    name = artifact_log.artifact_name
    if log_registry.is_off_by_default(name):
        artifact_log.propagate = False
    if name in log_state.artifacts:
        artifact_log.setLevel(logging.DEBUG)
        artifact_log.propagate = True


def help_message(verbose=False):
    if verbose:
        heading, names = "All registered names", list(log_registry.artifact_names)
    else:
        heading = "Visible registered names (use TORCH_LOGS='+help' for full list)"
        names = [n for n, (_, flags) in log_registry.artifact_names.items() if shown in flags]
    lines = ["all", *sorted(log_registry.log_alias_to_log_qnames)]
    lines += sorted(f"{n:<30}\t{log_registry.artifact_names[n][0]}" for n in names)
    return f"""
TORCH_LOGS Info

Examples:
  TORCH_LOGS="+dynamo,aot"        TorchDynamo at level DEBUG, AOTAutograd at level INFO
  TORCH_LOGS="-dynamo,+inductor"  TorchDynamo at level ERROR, TorchInductor at level DEBUG
  TORCH_LOGS="aot_graphs"         the artifact aot_graphs
  TORCH_LOGS="+dynamo,schedule"   TorchDynamo at level DEBUG, and the artifact schedule
  TORCH_LOGS="+some.random.module,schedule"
                                  the module's logger at level DEBUG, and the artifact schedule

  TORCH_LOGS_FORMAT="%(levelname)s: %(message)s" is the format of each message; the keys are those of the logging
  module. "short" stands for the logging module's own format.

  TORCH_LOGS_OUT=/tmp/output.txt writes the messages to a file as well.

{heading}
  """ + "\n  ".join(lines) + "\n"


def _invalid_settings_err_msg(settings):
    names = ", ".join(["all", *log_registry.log_alias_to_log_qnames, *log_registry.artifact_names])
    return (
        f"\nInvalid log settings: {settings}, must be a comma separated list of fully\nqualified module names, registered log names or registered artifact names.\n"
        f'For more info on various settings, try TORCH_LOGS="help"\nValid settings:\n{names}\n'
    )


_item = re.compile(r"[+-]?[\w.]+")


def _is_valid_module(name):
    if name in _native.log_modules():
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _parse_log_settings(settings):
    if settings == "help":
        raise ValueError(help_message(verbose=False))
    if settings == "+help":
        raise ValueError(help_message(verbose=True))
    state = LogState()
    if settings == "":
        return state
    for item in settings.split(","):
        item = item.strip()
        if not _item.fullmatch(item):
            raise ValueError(_invalid_settings_err_msg(settings))
        level = {"+": logging.DEBUG, "-": logging.ERROR}.get(item[0], logging.INFO)
        name = item.lstrip("+-")
        name = aliases.get(name, name)
        if name == "all":
            name = "torch"
        if log_registry.is_log(name):
            state.enable_log(log_registry.log_alias_to_log_qnames[name], level)
        elif log_registry.is_artifact(name):
            state.artifacts.add(name)
        elif _is_valid_module(name):
            known = log_registry.get_log_qnames()
            above = [name[:i] for i in range(len(name)) if name[i] == "."]
            if name in known or any(p in known for p in above):
                log_registry.child_log_qnames.add(name)
            else:
                register_log(name, name)
            state.enable_log(name, level)
        else:
            raise ValueError(_invalid_settings_err_msg(settings))
    return state


def set_logs(
    *, all=None, dynamo=None, aot=None, autograd=None, dynamic=None, inductor=None, distributed=None, c10d=None, ddp=None, fsdp=None, dtensor=None, onnx=None,
    bytecode=False, aot_graphs=False, aot_joint_graph=False, ddp_graphs=False, graph=False, graph_code=False, graph_breaks=False, graph_sizes=False, guards=False,
    recompiles=False, recompiles_verbose=False, trace_source=False, trace_call=False, trace_bytecode=False, output_code=False, kernel_code=False, schedule=False,
    perf_hints=False, post_grad_graphs=False, onnx_diagnostics=False, fusion=False, overlap=False, export=None, modules=None, cudagraphs=False, sym_node=False,
    compiled_autograd=False, compiled_autograd_verbose=False, cudagraph_static_inputs=False, benchmarking=False, graph_region_expansion=False, aot_joint_graphs=False,
):
    """Sets the levels of components and switches artifacts; what is not named goes back to its default."""
    settings = dict(locals())
    if "TORCH_LOGS" in os.environ:
        log.warning("Using TORCH_LOGS environment variable for log settings, ignoring call to set_logs")
        return
    modules = settings.pop("modules") or {}
    settings["torch"] = settings.pop("all")
    global log_state
    log_state = LogState()
    for name, value in [*settings.items(), *modules.items()]:
        if value is None:
            continue
        name = aliases.get(name, name)
        if log_registry.is_artifact(name):
            if not isinstance(value, bool):
                raise ValueError(f"Expected bool to enable artifact {name}, received {value}")
            if value:
                log_state.artifacts.add(name)
        elif log_registry.is_log(name) or name in log_registry.child_log_qnames:
            if value not in logging._levelToName:
                raise ValueError(f"Unrecognized log level for log {name}: {value}, valid level values are: {','.join(map(str, logging._levelToName))}")
            log_state.enable_log(log_registry.log_alias_to_log_qnames.get(name, name), value)
        else:
            raise ValueError(f"Unrecognized log or artifact name passed to set_logs: {name}")
    _init_logs()


def _relative(path):
    """A file of torch or of another module on the search path from that path on; other files whole."""
    if path.startswith("torch/"):
        return path
    path = os.path.realpath(path)
    for p in sys.path:
        if p and path.startswith(p.rstrip("/") + "/"):
            return path[len(p.rstrip("/")) + 1:]
    return path


_letters = {"DEBUG": "V", "INFO": "I", "WARNING": "W", "ERROR": "E", "CRITICAL": "C"}


class TorchLogsFormatter(logging.Formatter):
    """Puts level, time, process, place, compile id and artifact in front of each line of a message."""

    def format(self, record):
        artifact = getattr(logging.getLogger(record.name), "artifact_name", None)
        own = log_registry.artifact_log_formatters.get(artifact)
        if own is not None:
            return own.format(record)
        text = record.message = record.getMessage()
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            text += ("" if text[-1:] == "\n" else "\n") + record.exc_text
        if record.stack_info:
            text += ("" if text[-1:] == "\n" else "\n") + self.formatStack(record.stack_info)
        record.asctime = self.formatTime(record, "%m%d %H:%M:%S")
        trace = _native.trace_id()
        record.rankprefix = ""
        record.traceid = f" [{trace}]" if trace else ""
        record.artifactprefix = f" [__{artifact}]" if artifact else ""
        letter = _letters.get(record.levelname, record.levelname)
        prefix = f"{letter}{record.asctime}.{int(record.msecs * 1000):06d} {record.process} {_relative(record.pathname)}:{record.lineno}]{record.traceid}{record.artifactprefix}"
        return "\n".join(f"{prefix} {line}" for line in text.split("\n"))


def _default_formatter():
    fmt = os.environ.get("TORCH_LOGS_FORMAT")
    if fmt is None:
        return TorchLogsFormatter()
    return logging.Formatter(logging.BASIC_FORMAT if fmt in ("short", "basic") else fmt)


DEFAULT_FORMATTER = _default_formatter()
_handlers = []  # those that are ours: a script's own handlers are left alone


def _is_torch_handler(handler):
    return handler in _handlers


def _clear_handlers(logger):
    for handler in [h for h in logger.handlers if _is_torch_handler(h)]:
        logger.removeHandler(handler)


def _add_handler(logger, handler):
    handler.setFormatter(DEFAULT_FORMATTER)
    handler.setLevel(logging.DEBUG)
    logger.addHandler(handler)
    _handlers.append(handler)


def _init_logs(keep=()):
    """Brings the loggers into the state that is asked for. Loggers in keep were set by the script itself before."""
    global log_state
    registered = log_registry.get_log_qnames()
    for q in registered:
        logger = logging.getLogger(q)
        for h in [h for h in logger.handlers if h in _handlers]:
            logger.removeHandler(h)
        logger.propagate = False
        if q not in keep:
            logger.setLevel(logging.WARNING if q == "torch" else logging.NOTSET)
    _handlers.clear()
    for q in [*log_registry.artifact_log_qnames, *log_registry.child_log_qnames]:
        logger = logging.getLogger(q)
        logger.setLevel(logging.NOTSET)
        logger.propagate = True
    if "TORCH_LOGS" in os.environ:
        log_state = _parse_log_settings(os.environ["TORCH_LOGS"])
        registered = log_registry.get_log_qnames()
    for q, level in log_state.levels.items():
        logging.getLogger(q).setLevel(level)
    out = os.environ.get("TORCH_LOGS_OUT")
    file = logging.FileHandler(out) if out is not None else None
    for q in registered:
        # None of these passes messages on, so each is written once.
        _add_handler(logging.getLogger(q), logging.StreamHandler())
        if file is not None:
            _add_handler(logging.getLogger(q), file)
    for q in log_registry.artifact_log_qnames:
        _switch(logging.getLogger(q))


_warned = set()


def warning_once(logger_obj, *args, **kwargs):
    key = (logger_obj.name, args)
    if key not in _warned:
        _warned.add(key)
        logger_obj.warning(*args, **kwargs)


# What the compiler itself logs comes from native code: it names the logger, and the place in PyTorch.

def _logger(module, artifact):
    return getArtifactLogger(module, artifact) if artifact else logging.getLogger(module)


_log_level = None, False  # torch._dynamo.config.log_level and debug as they were last seen


def _follow_level():
    """Brings config.log_level into effect: what each level adds to those above it; and config.debug, for each graph and what it guards on.
    TORCH_LOGS wins over them."""
    global _log_level
    config = sys.modules.get("torch._dynamo.config")
    level, debug = (config.log_level, config.debug) if config else (None, False)
    if (level, debug) == _log_level or "TORCH_LOGS" in os.environ:
        return
    if level is not None and not isinstance(level, int):
        log.warning("torch._dynamo.config.log_level is %r, which is no level of logging: it is ignored", level)
        _log_level = level, debug
        return
    log_state.artifacts.difference_update({"graph_breaks", "bytecode", "graph_code", "guards"})
    _log_level = level, debug
    for name in ("dynamo", "inductor"):
        for q in log_registry.log_alias_to_log_qnames[name]:
            log_state.levels.pop(q, None)
            if level:
                log_state.levels[q] = level
    if debug:
        log_state.artifacts |= {"graph_code", "guards"}
    if level:
        if level <= logging.WARNING:
            log_state.artifacts.add("graph_breaks")
        if level <= logging.INFO:
            log_state.artifacts |= {"bytecode", "graph_code"}
    _init_logs()


_ASKED_FOR = "recompiles", "recompiles_verbose"  # the level of their component does not switch them on


def _enabled(points):
    _follow_level()
    return [log.isEnabledFor(level) and log.hasHandlers() and (a not in _ASKED_FOR or log_state.is_artifact_enabled(a))
            for log, level, a in ((_logger(m, a), n, a) for m, a, n in points)]


_log_file = None  # the handler that writes to the file of torch._dynamo.config.log_file, with its name


def _to_file():
    """Brings config.log_file, or log_file_name, into effect: what is logged goes there as well."""
    global _log_file
    config = sys.modules.get("torch._dynamo.config")
    name = config and (config.log_file or config.log_file_name)
    if _log_file is not None and (_log_file[0] != name or _log_file[1] not in _handlers):
        for q in log_registry.get_log_qnames():
            logging.getLogger(q).removeHandler(_log_file[1])
        _log_file[1].close()
        _log_file = None
    if name and _log_file is None:
        try:
            _log_file = name, logging.FileHandler(name)
        except OSError as e:
            raise OSError(e.errno, f"torch._dynamo.config.log_file: {e.strerror}", name) from None
        for q in log_registry.get_log_qnames():
            _add_handler(logging.getLogger(q), _log_file[1])


def _emit(module, artifact, level, text, path, line):
    _to_file()
    logger = _logger(module, artifact)
    if logger.isEnabledFor(level):
        logger.handle(logger.makeRecord(logger.name, level, path, line, text, (), None))


_init_logs(keep=[n for n, l in logging.Logger.manager.loggerDict.items() if getattr(l, "level", 0)])

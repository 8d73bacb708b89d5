"""Switching the compiler's logs. The loggers themselves are made when first needed: see _internal."""
import os


def __getattr__(name):
    if name in ("set_logs", "DEFAULT_LOGGING", "getArtifactLogger", "get_loggers", "register_log", "register_artifact", "help_message", "log_registry", "warning_once", "_init_logs", "trace_structured", "dtrace_structured"):
        from torch._logging import _internal

        return getattr(_internal, name)
    raise AttributeError(f"module 'torch._logging' has no attribute '{name}'")


if "TORCH_LOGS" in os.environ or "TORCH_LOGS_OUT" in os.environ:
    from torch._logging import _internal

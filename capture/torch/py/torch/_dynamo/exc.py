"""Errors of capture."""
import logging
from enum import Enum, auto

from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)

log = logging.getLogger(__name__)
exceptions_allowed_to_be_fallback = (DataDependentOutputException, DynamicOutputShapeException, UnsupportedOperatorException, UnsupportedFakeTensorException)


class TorchDynamoException(RuntimeError):
    pass


class InternalTorchDynamoError(TorchDynamoException):
    pass


class RestartAnalysis(TorchDynamoException):
    def __init__(self, *args, restart_reason=None):
        self.restart_reason = restart_reason
        super().__init__(*args)


class SpeculationRestartAnalysis(RestartAnalysis):
    pass


class UnspecializeRestartAnalysis(RestartAnalysis):
    pass


class CompileCollectiveRestartAnalysis(RestartAnalysis):
    pass


class TensorifyScalarRestartAnalysis(RestartAnalysis):
    pass


class SkipFrame(TorchDynamoException):
    pass


class TorchRuntimeError(TorchDynamoException):
    pass


class InvalidBackend(TorchDynamoException):
    def __init__(self, name):
        super().__init__(f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends.")


class ResetRequired(TorchDynamoException):
    def __init__(self):
        super().__init__("\nMust call `torch._dynamo.reset()` before changing backends.  Detected two calls to\n"
                         "`torch.compile()` with a different backend compiler arguments.\n")


class BackendCompilerFailed(TorchDynamoException):
    def __init__(self, backend_fn, inner_exception):
        self.backend_name = getattr(backend_fn, "__name__", "?")
        self.inner_exception = inner_exception
        super().__init__(f"backend={self.backend_name!r} raised:\n{type(inner_exception).__name__}: {inner_exception}")


class Unsupported(TorchDynamoException):
    """What capture does not do, where no graph break is allowed."""

    def __init__(self, msg, *, case_name=None):
        super().__init__(msg)
        self.real_stack = []
        self.msg = msg
        self.category = "unimplemented"
        self.case_name = case_name

    def add_to_stats(self, category="unimplemented"):
        from torch._dynamo.utils import counters

        self.category = category
        counters[category][self.msg] += 1

    def remove_from_stats(self):
        from torch._dynamo.utils import counters

        counters[self.category][self.msg] -= 1
        if counters[self.category][self.msg] <= 0:
            del counters[self.category][self.msg]


class RecompileError(TorchDynamoException):
    pass


class ArgsMismatchError(Unsupported):
    pass


class AttributeMutationError(Unsupported):
    pass


class CondOpArgsMismatchError(ArgsMismatchError):
    """The branches of a cond take or give different things."""


class UserErrorType(Enum):
    DYNAMIC_CONTROL_FLOW = auto()
    ANTI_PATTERN = auto()
    STANDARD_LIBRARY = auto()
    CONSTRAINT_VIOLATION = auto()
    DYNAMIC_DIM = auto()
    INVALID_INPUT = auto()
    INVALID_OUTPUT = auto()
    UNSUPPORTED_ALIASED_MUTATED_DYNAMIC_INPUTS = auto()


class UserError(Unsupported):
    """What the program may not do."""

    def __init__(self, error_type, msg, case_name=None):
        if case_name is not None:
            assert isinstance(case_name, str)
            msg += exportdb_error_message(case_name) if msg.endswith(".") else "\n" + exportdb_error_message(case_name)
        super().__init__(msg)
        self.error_type = error_type
        self.message = msg


class SkipCodeRecursiveException(TorchDynamoException):
    pass


class RecompileLimitExceeded(Unsupported):
    pass


CacheLimitExceeded = RecompileLimitExceeded


class FailOnRecompileLimitHit(Exception):
    pass


FailOnCacheLimitHit = FailOnRecompileLimitHit


class UnsafeScriptObjectError(TorchDynamoException):
    pass


class UncapturedHigherOrderOpError(TorchDynamoException):
    pass


class IncorrectUsage(Exception):
    pass


class ObservedException(TorchDynamoException):
    """An exception of the traced program."""


class ObservedUserStopIteration(ObservedException):
    def __init__(self, *args, **kwargs):
        super().__init__("unhandled `raise StopIteration`")
        self.value = args[0] if args else None


class ObservedKeyError(ObservedException):
    pass


class ObservedAttributeError(ObservedException):
    pass


observed_exception_map = {StopIteration: ObservedUserStopIteration, KeyError: ObservedKeyError, AttributeError: ObservedAttributeError}


def exportdb_error_message(case_name):
    return f"For more information about this error, see: https://pytorch.org/docs/main/generated/exportdb/index.html#{case_name.replace('_', '-')}"


def unimplemented(msg, *, from_exc=None, case_name=None):
    """Refuses in capture's name: backends and programs raise Unsupported with it, as PyTorch's own code does."""
    raise Unsupported(msg, case_name=case_name) from from_exc


def unimplemented_with_warning(e, code, msg):
    """Is unimplemented with the cause e, after a line of the log; code, the one being traced, is PyTorch's argument."""
    log.warning("%s", msg)
    unimplemented(msg, from_exc=e)

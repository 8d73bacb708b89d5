"""Errors of capture."""


class TorchDynamoException(RuntimeError):
    pass


class InternalTorchDynamoError(TorchDynamoException):
    pass


class RestartAnalysis(TorchDynamoException):
    pass


class Unsupported(TorchDynamoException):
    pass


class RecompileError(TorchDynamoException):
    pass


class CacheLimitExceeded(Unsupported):
    pass


class FailOnRecompileLimitHit(Exception):
    pass


FailOnCacheLimitHit = FailOnRecompileLimitHit


class ResetRequired(TorchDynamoException):
    pass


class InvalidBackend(TorchDynamoException):
    def __init__(self, name):
        super().__init__(f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends.")


class BackendCompilerFailed(TorchDynamoException):
    inner_exception = None


class UserError(Unsupported):
    pass


class ArgsMismatchError(Unsupported):
    pass


class IncorrectUsage(Exception):
    pass


class TorchRuntimeError(TorchDynamoException):
    pass

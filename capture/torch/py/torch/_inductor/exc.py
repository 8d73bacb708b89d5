"""Errors of the Inductor backend."""


class LoweringException(RuntimeError):
    pass


class CppCompileError(RuntimeError):
    pass


class MissingOperatorWithoutDecomp(RuntimeError):
    pass

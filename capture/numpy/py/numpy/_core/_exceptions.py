"""Exceptions that the core raises itself."""


class UFuncTypeError(TypeError):
    """A universal function has no loop for its operands."""


class _ArrayMemoryError(MemoryError):
    """An array is larger than memory."""

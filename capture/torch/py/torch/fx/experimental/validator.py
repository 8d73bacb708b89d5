"""Translation validation, which needs z3."""
from torch._absent import declare


def translation_validation_enabled():
    return False


def translation_validation_timeout():
    from torch.fx.experimental import _config

    return _config.translation_validation_timeout


declare("BisectValidationException", "ValidationException", "bisect")

"""Types for values of a traced program."""
from torch.fx.proxy import Proxy


def annotate(val, type):
    """The value; while a program is traced, its node gets that type."""
    if not isinstance(val, Proxy):
        return val
    if val.node.type:
        raise RuntimeError(
            f"Tried to annotate a value that already had a type on it! Existing type is {val.node.type} and new type is {type}. "
            "This could happen if you tried to annotate a function parameter value (in which case you should use the type slot on the function signature) or you called annotate on the same value twice"
        )
    val.node.type = type
    return val

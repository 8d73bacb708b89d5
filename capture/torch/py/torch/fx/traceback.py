"""The metadata that nodes get while a graph is interpreted."""
import contextlib
import traceback

current_meta = {}
should_preserve_node_meta = False


@contextlib.contextmanager
def preserve_node_meta():
    """New nodes get what the node that is interpreted has."""
    global should_preserve_node_meta, current_meta
    saved, saved_meta = should_preserve_node_meta, current_meta.copy()
    try:
        should_preserve_node_meta = True
        yield
    finally:
        should_preserve_node_meta, current_meta = saved, saved_meta


def set_stack_trace(stack):
    if should_preserve_node_meta and stack:
        current_meta["stack_trace"] = "".join(stack)


def set_grad_fn_seq_nr(seq_nr):
    if should_preserve_node_meta:
        current_meta["grad_fn_seq_nr"] = current_meta.get("grad_fn_seq_nr", []) + [seq_nr]
        current_meta["in_grad_fn"] = current_meta.get("in_grad_fn", 0) + 1


def reset_grad_fn_seq_nr():
    if should_preserve_node_meta:
        level = current_meta.get("in_grad_fn", 0)
        if level > 1:
            current_meta["in_grad_fn"] = level - 1
            current_meta["grad_fn_seq_nr"] = current_meta["grad_fn_seq_nr"][:-1]
        elif level == 1:
            del current_meta["in_grad_fn"]
            current_meta.pop("grad_fn_seq_nr", None)


def format_stack():
    if should_preserve_node_meta:
        return [current_meta.get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


def has_preserved_node_meta():
    return should_preserve_node_meta


@contextlib.contextmanager
def set_current_meta(node, pass_name=""):
    global current_meta
    if should_preserve_node_meta and node.meta:
        saved = current_meta
        try:
            current_meta = node.meta.copy()
            current_meta["from_node"] = [*current_meta.get("from_node", []), (node.name, node.target)]
            yield
        finally:
            current_meta = saved
    else:
        yield


def get_current_meta():
    return current_meta

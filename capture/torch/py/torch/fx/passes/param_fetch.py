"""What of a module a backend needs to lower it."""
import torch
import torch.nn as nn


def default_matching(name, target_version):
    """The name of an attribute: the same in all versions."""
    return name


_BATCH_NORM = ["weight", "bias", "running_mean", "running_var", "eps"]

# From types of modules to (version, names of attributes, the function that gives a name in a version).
module_fetch_book = {
    nn.modules.linear.Linear: (1, ["weight", "bias"], default_matching),
    nn.modules.conv.Conv2d: (1, ["weight", "bias", "kernel_size", "stride", "padding", "dilation", "groups", "padding_mode"], default_matching),
    nn.modules.batchnorm.BatchNorm2d: (2, _BATCH_NORM, default_matching),
    nn.modules.pooling.AdaptiveAvgPool2d: (1, [], default_matching),
    nn.modules.pooling.MaxPool2d: (1, ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"], default_matching),
    nn.modules.activation.ReLU: (1, ["inplace"], default_matching),
}


def extract_attrs_for_lowering(mod):
    """The attributes of a module that lowering needs, with the name of its type."""
    if type(mod) not in module_fetch_book:
        return {"name": torch.typename(mod)}
    version, names, matching = module_fetch_book[type(mod)]
    if version < mod._version:
        raise RuntimeError(f"Fetcher version {version} try to fetch {torch.typename(mod)} version {mod._version}, which module_fetch_book does not know")
    return {"name": torch.typename(mod), **{n: getattr(mod, matching(n, mod._version)) for n in names}}


def lift_lowering_attrs_to_nodes(fx_module):
    """Gives each node that calls a module the attributes of that module."""
    modules = dict(fx_module.named_modules())
    for node in fx_module.graph.nodes:
        if node.op != "call_module":
            continue
        if isinstance(modules[node.target], torch.fx.GraphModule):
            lift_lowering_attrs_to_nodes(modules[node.target])
        else:
            node.attrs_for_lowering = extract_attrs_for_lowering(modules[node.target])

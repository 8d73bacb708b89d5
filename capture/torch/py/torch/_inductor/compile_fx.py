from torch._C import _dynamo as _native


def compile_fx(model_, example_inputs_, config_patches=None, **kwargs):
    from torch._inductor import config

    with config.patch(config_patches or {}):
        return _native.backend("inductor")(model_, example_inputs_)


def compile_fx_inner(gm, example_inputs, **kwargs):
    return _native.compile_inner(gm, example_inputs)

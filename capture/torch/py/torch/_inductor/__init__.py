from torch._inductor import config


def list_mode_options(mode=None, dynamic=None):
    options = {"default": {}, "reduce-overhead": {"triton.cudagraphs": True}, "max-autotune-no-cudagraphs": {"max_autotune": True, "coordinate_descent_tuning": True},
               "max-autotune": {"max_autotune": True, "triton.cudagraphs": True, "coordinate_descent_tuning": True}}
    if mode is None:
        return options
    if mode not in options:
        known = "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(known)}")
    return options[mode]


def list_options():
    return sorted(config.to_dict())

from torch._inductor import config


def list_mode_options(mode=None, dynamic=None):
    options = {"default": {}, "reduce-overhead": {"triton.cudagraphs": True}, "max-autotune-no-cudagraphs": {"max_autotune": True, "coordinate_descent_tuning": True},
               "max-autotune": {"max_autotune": True, "triton.cudagraphs": True, "coordinate_descent_tuning": True}}
    return options if mode is None else options[mode]


def list_options():
    return sorted(config.to_dict())

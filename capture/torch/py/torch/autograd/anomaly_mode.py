"""The mode that says where a gradient went wrong."""
import traceback
import warnings

import torch

__all__ = ["detect_anomaly", "set_detect_anomaly"]


def _program_trace():
    """Where the program is, as lines of a traceback."""
    return traceback.format_list(traceback.extract_stack()[:-1])


def _warn(chain):
    """Says which node of a backward pass failed, and where it and those that led to it were made: pairs of names and traces, the failed one first."""
    (name, trace), *parents = chain
    if trace is None:
        warnings.warn(f"Error detected in {name}. No forward pass information available. Enable detect anomaly during forward pass for more information.", stacklevel=2)
    else:
        warnings.warn(f"Error detected in {name}. Traceback of forward call that caused the error:\n{''.join(trace)}", stacklevel=2)
    for name, trace in parents:
        if trace is None:
            warnings.warn(f"Previous calculation was induced by {name}. No forward pass information available. Enable detect anomaly during forward pass for more information.", stacklevel=2)
            return
        warnings.warn(f"Previous calculation was induced by {name}. Traceback of forward call that induced the previous calculation:\n{''.join(trace)}", stacklevel=2)


class detect_anomaly:
    """Nodes keep where they were made, and an error in a backward pass says it. Gradients with NaNs are errors, unless check_nan is False."""

    def __init__(self, check_nan=True):
        self.prev = torch.is_anomaly_enabled()
        self.check_nan = check_nan
        self.prev_check_nan = torch.is_anomaly_check_nan_enabled()
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.", stacklevel=2)

    def __enter__(self):
        torch._C._set_anomaly_enabled(True, self.check_nan)

    def __exit__(self, *args):
        torch._C._set_anomaly_enabled(self.prev, self.prev_check_nan)


class set_detect_anomaly:
    """Switches the mode; as a context, until the block ends."""

    def __init__(self, mode, check_nan=True):
        self.prev = torch.is_anomaly_enabled()
        self.prev_check_nan = torch.is_anomaly_check_nan_enabled()
        torch._C._set_anomaly_enabled(mode, check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *args):
        torch._C._set_anomaly_enabled(self.prev, self.prev_check_nan)

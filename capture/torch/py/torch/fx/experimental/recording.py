"""Events of shape environments, which are recorded to be played again."""
from torch._absent import declare


class NotEqualError(Exception):
    def __init__(self, msg, mismatched):
        details = "\n".join(["\n".join([f"==> {inner_msg}", f"  >  Left: {str1}", f"  > Right: {str2}"]) for inner_msg, str1, str2 in mismatched])
        super().__init__(f"ShapeEnv not equal: {msg}\n\n{details}\n")


declare("FakeTensorMeta", "ShapeEnvEvent", "record_shapeenv_event", "replay_shape_env_events", "shape_env_check_state_equal")

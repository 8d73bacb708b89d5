"""Models as ONNX files, which cannot be written here."""


def export(model, args=(), f=None, **kwargs):
    raise NotImplementedError("torch.onnx.export is not supported")


def is_in_onnx_export():
    return False

"""ONNX Runtime, which is not there."""

def has_onnxruntime():
    return False

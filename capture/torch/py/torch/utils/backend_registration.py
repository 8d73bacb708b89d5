"""The name of the device of a backend that is not part of PyTorch."""
_privateuse1_backend_name = "privateuseone"

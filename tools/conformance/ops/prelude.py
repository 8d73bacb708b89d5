# What a record's call means, and how it is compiled.
import torch


def method(name):
    def call(self, *args, **kwargs):
        return getattr(self, name)(*args, **kwargs)
    return call


def attribute(name):
    def call(self):
        return getattr(self, name)
    return call


def compiled(f):
    torch._dynamo.reset()

    def call(*args, **kwargs):
        return f(*args, **kwargs)
    return torch.compile(call)

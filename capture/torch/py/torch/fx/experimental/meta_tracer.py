"""Tracing with meta tensors beside the proxies, so that sizes, dtypes and devices are known."""
import builtins
import functools

import torch
import torch.fx


class MetaProxy(torch.fx.Proxy):
    """A proxy that knows what a meta tensor tells of its value."""

    def install_tensor_meta(self, tensor_meta):
        self._tensor_meta = tensor_meta

    def _known(self):
        return getattr(self, "_tensor_meta", None)

    def size(self, dim=None):
        if isinstance(self._known(), torch.Tensor):
            return self._tensor_meta.size(*[dim] if dim is not None else [])
        return self.tracer.create_proxy("call_method", "size", (self, dim) if dim is not None else (self,), {})

    def dim(self):
        if isinstance(self._known(), torch.Tensor):
            return self._tensor_meta.dim()
        return self.tracer.create_proxy("call_method", "dim", (self,), {})

    @property
    def shape(self):
        if isinstance(self._known(), torch.Tensor):
            return self._tensor_meta.shape
        return self.tracer.create_proxy("call_function", builtins.getattr, (self, "shape"), {})

    @property
    def dtype(self):
        if isinstance(self._known(), torch.Tensor):
            return self._tensor_meta.dtype
        return self.tracer.create_proxy("call_function", builtins.getattr, (self, "dtype"), {})

    @property
    def device(self):
        return MetaDeviceAttribute(self, "device")

    def __getattr__(self, k):
        if k == "_tensor_meta":
            raise AttributeError(k)
        return MetaAttribute(self, k)


class MetaAttribute(MetaProxy):
    """An attribute of a proxy, which is a node once it is used as a value."""

    def __init__(self, root, attr):
        self.root, self.attr, self.tracer, self._node = root, attr, root.tracer, None

    @property
    def node(self):
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root,) + args, kwargs)


class MetaDeviceAttribute(MetaAttribute):
    """The device of a proxy, which a meta tensor does not tell."""


def proxys_to_metas(v):
    """A value with its meta tensor in place of a proxy."""
    if isinstance(v, MetaDeviceAttribute):
        return "meta"
    if isinstance(v, torch.fx.Proxy):
        if not isinstance(v, MetaProxy):
            raise AssertionError(f"Expected MetaProxy but got {type(v)}")
        if v._known() is None:
            raise AssertionError("MetaProxy does not have an associated meta")
        return v._tensor_meta
    return v


class MetaTracer(torch.fx.Tracer):
    """Runs each node on meta tensors as it is made, where all its inputs have them."""

    allow_insert_stateless_mods = True
    _TORCH_METHODS_TO_PATCH = ["arange", "zeros", "ones", "full_like", "eye", "empty", "full", "rand", "randn"]

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        proxy = super().create_proxy(kind, target, args, kwargs, name, type_expr, proxy_factory_fn)
        if kind == "placeholder" and target in self.meta_args:
            proxy.install_tensor_meta(self.meta_args[target])
            return proxy
        if target in self.orig_fns:
            # what makes tensors makes meta tensors here
            kwargs = {**kwargs, "device": "meta"} if "device" not in kwargs or kind == "call_function" else kwargs
        try:
            meta_args = torch.fx.node.map_aggregate(args, proxys_to_metas)
            meta_kwargs = torch.fx.node.map_aggregate(kwargs, proxys_to_metas)
            if kind == "call_function":
                with torch.no_grad():
                    out = target(*meta_args, **meta_kwargs)
            elif kind == "call_method":
                out = getattr(meta_args[0], target)(*meta_args[1:], **meta_kwargs)
            elif kind == "call_module":
                if not hasattr(self, "orig_forward"):
                    raise AssertionError("a module is called by its path alone")
                self._disable_module_getattr = True
                try:
                    mod = self.root.get_submodule(target)
                    with torch.no_grad():
                        out = torch.func.functional_call(mod, {k: v.to("meta") for k, v in [*mod.named_parameters(), *mod.named_buffers()]}, meta_args, meta_kwargs) if self._has_tensors(mod) else self.orig_forward(*meta_args, **meta_kwargs)
                finally:
                    self._disable_module_getattr = False
            elif kind == "get_attr":
                self._disable_module_getattr = True
                try:
                    at = self.root
                    for part in target.split("."):
                        at = getattr(at, part)
                    out = at.to(device="meta") if isinstance(at, torch.Tensor) else None
                finally:
                    self._disable_module_getattr = False
            else:
                return proxy
            if not isinstance(proxy, torch.fx.Proxy):
                raise AssertionError("Don't support composite output yet")
            proxy.install_tensor_meta(out)
        except Exception as e:
            import warnings

            warnings.warn(f"Could not compute metadata for {kind} target {target}: {e}")
        return proxy

    @staticmethod
    def _has_tensors(mod):
        return next(mod.parameters(), None) is not None or next(mod.buffers(), None) is not None

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        if getattr(self, "_disable_module_getattr", False):
            return attr_val
        return super().getattr(attr, attr_val, parameter_proxy_cache)

    def call_module(self, m, forward, args, kwargs):
        if getattr(self, "_disable_module_getattr", False):  # a node is run on meta tensors
            return forward(*args, **kwargs)
        self.orig_forward = forward
        return super().call_module(m, forward, args, kwargs)

    def proxy(self, node):
        return MetaProxy(node, self)

    def trace(self, root, meta_args, concrete_args=None):
        if not isinstance(meta_args, dict):
            raise AssertionError("meta_args are a dict from names of parameters to meta tensors")
        self.meta_args = meta_args
        self.orig_fns = set()
        undo = []

        def maker(fn):
            @functools.wraps(fn)
            def wrapped(*args, **kwargs):
                if any(isinstance(a, torch.fx.Proxy) for a in torch.utils._pytree.tree_leaves((args, kwargs))):
                    return self.create_proxy("call_function", fn, args, kwargs)
                return fn(*args, **kwargs)

            return wrapped

        for name in self._TORCH_METHODS_TO_PATCH:
            fn = getattr(torch, name)
            self.orig_fns.add(fn)
            undo.append((name, fn))
            setattr(torch, name, maker(fn))
        try:
            graph = super().trace(root, concrete_args)
            graph._tracer_extras = {"meta_args": meta_args}
            return graph
        finally:
            for name, fn in undo:
                setattr(torch, name, fn)


def symbolic_trace(root, meta_args=None, concrete_args=None):
    """A GraphModule of a module or function, traced with meta tensors for the parameters that meta_args names."""
    tracer = MetaTracer()
    graph = tracer.trace(root, meta_args, concrete_args)
    name = root.__class__.__name__ if isinstance(root, torch.nn.Module) else root.__name__
    gm = torch.fx.GraphModule(tracer.root, graph, name)
    return gm

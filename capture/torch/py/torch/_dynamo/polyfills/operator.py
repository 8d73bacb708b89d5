import operator

from torch._dynamo.decorators import substitute_in_graph

__all__ = ["attrgetter", "itemgetter", "methodcaller"]


@substitute_in_graph(operator.attrgetter, is_embedded_type=True, skip_signature_check=True)
def attrgetter(*attrs):
    if not attrs:
        raise TypeError("attrgetter expected 1 argument, got 0")
    for attr in attrs:
        if not isinstance(attr, str):
            raise TypeError("attribute name must be a string")
    names = attrs

    def resolve(obj, path):
        for name in path.split("."):
            obj = getattr(obj, name)
        return obj

    if len(names) == 1:

        def getter(obj):
            return resolve(obj, names[0])

    else:

        def getter(obj):
            return tuple([resolve(obj, name) for name in names])

    return getter


@substitute_in_graph(operator.itemgetter, is_embedded_type=True, skip_signature_check=True)
def itemgetter(*items):
    if not items:
        raise TypeError("itemgetter expected 1 argument, got 0")
    if len(items) == 1:
        item = items[0]

        def getter(obj):
            return obj[item]

    else:

        def getter(obj):
            return tuple([obj[key] for key in items])

    return getter


@substitute_in_graph(operator.methodcaller, is_embedded_type=True, skip_signature_check=True)
def methodcaller(name, /, *args, **kwargs):
    if not isinstance(name, str):
        raise TypeError("method name must be a string")

    def caller(obj):
        return getattr(obj, name)(*args, **kwargs)

    return caller

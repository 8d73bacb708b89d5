"""Context managers as decorators."""
import functools
import inspect
import warnings


def context_decorator(ctx_factory, func):
    """func inside of a new context at every call; a generator each time that it goes on."""
    if inspect.isclass(func):
        warnings.warn("Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or methods. To preserve the current behavior "
                      "of class decoration, you can directly decorate the `__init__` method and nothing else.", FutureWarning, stacklevel=2)

        def made(*args, **kwargs):
            with ctx_factory():
                return func(*args, **kwargs)

        return made

    if inspect.isgeneratorfunction(func):

        @functools.wraps(func)
        def decorate_generator(*args, **kwargs):
            running = func(*args, **kwargs)
            step, given = running.send, None
            while True:
                with ctx_factory():
                    try:
                        produced = step(given)
                    except StopIteration as end:
                        return end.value
                try:
                    given = yield produced
                    step = running.send
                except GeneratorExit:
                    with ctx_factory():
                        running.close()
                    raise
                except BaseException as error:
                    step, given = running.throw, error

        return decorate_generator

    @functools.wraps(func)
    def decorate_context(*args, **kwargs):
        with ctx_factory():
            return func(*args, **kwargs)

    return decorate_context

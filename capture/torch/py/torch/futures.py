"""Results that are there later. Nothing here runs in the background by itself: whoever makes a future sets its result."""
import threading


class Future:
    def __init__(self, *, devices=None):
        self._done = threading.Event()
        self._value, self._error, self._callbacks = None, None, []

    def done(self):
        return self._done.is_set()

    def wait(self):
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._value

    def value(self):
        if not self.done():
            raise RuntimeError("Future is not completed")
        return self.wait()

    def _finish(self):
        self._done.set()
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)

    def set_result(self, result):
        if self.done():
            raise RuntimeError("Future can only be marked completed once")
        self._value = result
        self._finish()

    def set_exception(self, result):
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._error = result
        self._finish()

    def add_done_callback(self, callback):
        if self.done():
            callback(self)
        else:
            self._callbacks.append(callback)

    def then(self, callback):
        after = Future()

        def run(_):
            try:
                after.set_result(callback(self))
            except Exception as e:
                after.set_exception(e)

        self.add_done_callback(run)
        return after

    def __class_getitem__(cls, item):
        return cls


def collect_all(futures):
    result, left = Future(), [len(futures)]

    def one(_):
        left[0] -= 1
        if left[0] == 0:
            result.set_result(list(futures))

    if not futures:
        result.set_result([])
    for f in futures:
        f.add_done_callback(one)
    return result


def wait_all(futures):
    return [f.wait() for f in collect_all(futures).wait()]

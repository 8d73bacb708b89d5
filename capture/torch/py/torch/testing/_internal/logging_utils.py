"""Tests of what is logged: the records of torch's loggers, whichever settings switch them on."""
import contextlib
import functools
import io
import logging
import os
import unittest.mock

import torch._dynamo
import torch._dynamo.test_case
import torch._logging
from torch._dynamo.utils import LazyString
from torch._inductor import config as inductor_config


@contextlib.contextmanager
def preserve_log_state():
    """What is switched on now is switched on again afterwards."""
    before = torch._logging._internal._get_log_state()
    torch._logging._internal._set_log_state(torch._logging._internal.LogState())
    try:
        yield
    finally:
        torch._logging._internal._set_log_state(before)
        torch._logging._internal._init_logs()


def log_settings(settings):
    """TORCH_LOGS=settings for a while."""
    stack = contextlib.ExitStack()
    stack.enter_context(unittest.mock.patch.dict(os.environ, {"TORCH_LOGS": settings}))
    stack.enter_context(preserve_log_state())
    torch._logging._internal._init_logs()
    return stack


def log_api(**kwargs):
    """torch._logging.set_logs(**kwargs) for a while."""
    stack = contextlib.ExitStack()
    stack.enter_context(preserve_log_state())
    torch._logging.set_logs(**kwargs)
    return stack


def kwargs_to_settings(**kwargs):
    """The text of TORCH_LOGS that says what the arguments of set_logs say."""
    levels = {logging.DEBUG: "+", logging.INFO: "", logging.ERROR: "-"}
    items = []

    def add(name, value):
        if isinstance(value, bool):
            items.append(name)
        elif value in levels:
            items.append(levels[value] + name)
        else:
            raise ValueError("Invalid value for setting")

    for name, value in kwargs.items():
        if name == "modules" and isinstance(value, dict):
            for module, level in value.items():
                add(module, level)
        else:
            add(name, value)
    return ",".join(items)


def make_logging_test(**kwargs):
    """Runs a test with these artifacts and levels on; it gets the list of records."""

    def wrapper(fn):
        @inductor_config.patch({"fx_graph_cache": False})
        def test_fn(self):
            torch._dynamo.reset()
            records = []
            # Without arguments the test sets its logs itself.
            if len(kwargs) == 0:
                with self._handler_watcher(records):
                    fn(self, records)
            else:
                with log_settings(kwargs_to_settings(**kwargs)), self._handler_watcher(records):
                    fn(self, records)

        return test_fn

    return wrapper


def make_settings_test(settings):
    """Runs a test with TORCH_LOGS=settings; it gets the list of records."""

    def wrapper(fn):
        def test_fn(self):
            torch._dynamo.reset()
            records = []
            with log_settings(settings), self._handler_watcher(records):
                fn(self, records)

        return test_fn

    return wrapper


class LoggingTestCase(torch._dynamo.test_case.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls._exit_stack.enter_context(unittest.mock.patch.dict(os.environ, {"___LOG_TESTING": ""}))
        cls._exit_stack.enter_context(unittest.mock.patch("torch._dynamo.config.suppress_errors", True))
        cls._exit_stack.enter_context(unittest.mock.patch("torch._dynamo.config.verbose", False))

    @classmethod
    def tearDownClass(cls):
        cls._exit_stack.close()
        torch._logging._internal.log_state.clear()
        torch._logging._init_logs()

    def hasRecord(self, records, m):
        return any(m in r.getMessage() for r in records)

    def getRecord(self, records, m):
        found = None
        for r in records:
            # A record whose arguments are not yet text is made one: its message may be what m is in.
            if m in r.getMessage():
                self.assertIsNone(found, msg=LazyString(lambda: f"multiple matching records: {r}, {found} among {records}"))
                found = r
        if found is None:
            self.fail(f"did not find record with {m} among {records}")
        return found

    @contextlib.contextmanager
    def _handler_watcher(self, record_list):
        """Adds to record_list what any handler of torch's loggers emits."""
        stack = contextlib.ExitStack()
        for qname in torch._logging._internal.log_registry.get_log_qnames():
            for handler in logging.getLogger(qname).handlers:
                emit = handler.emit

                def new_emit(record, emit=emit):
                    record_list.append(record)
                    return emit(record)

                stack.enter_context(unittest.mock.patch.object(handler, "emit", new_emit))
        with stack:
            yield


def logs_to_string(module, log_option):
    """A stream that takes what module logs with log_option on, and a context manager that switches it on."""
    log_stream = io.StringIO()
    handler = logging.StreamHandler(stream=log_stream)

    @contextlib.contextmanager
    def tmp_redirect_logs():
        try:
            logger = torch._logging.getArtifactLogger(module, log_option)
            logger.addHandler(handler)
            yield
        finally:
            logger.removeHandler(handler)

    def ctx_manager():
        exit_stack = log_settings(log_option)
        exit_stack.enter_context(tmp_redirect_logs())
        return exit_stack

    return log_stream, ctx_manager


def multiple_logs_to_string(module, *log_options):
    """logs_to_string for several artifacts at once: a stream for each."""
    streams = [io.StringIO() for _ in log_options]
    handlers = [logging.StreamHandler(stream=s) for s in streams]

    @contextlib.contextmanager
    def tmp_redirect_logs():
        loggers = [torch._logging.getArtifactLogger(module, o) for o in log_options]
        try:
            for logger, handler in zip(loggers, handlers):
                logger.addHandler(handler)
            yield
        finally:
            for logger, handler in zip(loggers, handlers):
                logger.removeHandler(handler)

    def ctx_manager():
        exit_stack = log_settings(", ".join(log_options))
        exit_stack.enter_context(tmp_redirect_logs())
        return exit_stack

    return streams, ctx_manager

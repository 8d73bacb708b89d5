"""The base of tests of capture: each begins with nothing compiled."""
import contextlib
import importlib
import logging
import os
import sys

import torch
import torch.testing
from torch._dynamo import config, reset, utils
from torch._logging._internal import trace_log
from torch.testing._internal.common_utils import IS_WINDOWS, TEST_WITH_CROSSREF, TEST_WITH_TORCHDYNAMO, TestCase as TorchTestCase

log = logging.getLogger(__name__)


def run_tests(needs=()):
    """Runs the tests of the program, if the modules that they need are here."""
    from torch.testing._internal.common_utils import run_tests

    if TEST_WITH_TORCHDYNAMO or TEST_WITH_CROSSREF:
        return
    for need in (needs,) if isinstance(needs, str) else needs:
        if need == "cuda":
            if not torch.cuda.is_available():
                return
            continue
        try:
            importlib.import_module(need)
        except ImportError:
            return
    run_tests()


class TestCase(TorchTestCase):
    @classmethod
    def tearDownClass(cls):
        cls._exit_stack.close()
        super().tearDownClass()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls._exit_stack = contextlib.ExitStack()
        cls._exit_stack.enter_context(config.patch(raise_on_ctx_manager_usage=True, suppress_errors=False, log_compilation_metrics=False))

    def setUp(self):
        self._prior_is_grad_enabled = torch.is_grad_enabled()
        super().setUp()
        reset()
        utils.counters.clear()
        self.handler = logging.NullHandler()
        trace_log.addHandler(self.handler)

    def tearDown(self):
        trace_log.removeHandler(self.handler)
        for k, v in utils.counters.items():
            print(k, v.most_common())
        reset()
        utils.counters.clear()
        super().tearDown()
        if self._prior_is_grad_enabled is not torch.is_grad_enabled():
            log.warning("Running test changed grad mode")
            torch.set_grad_enabled(self._prior_is_grad_enabled)

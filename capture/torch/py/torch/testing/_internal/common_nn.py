"""Tests of modules against references."""
from torch.testing._internal.common_utils import TestCase


class NNTestCase(TestCase):
    pass

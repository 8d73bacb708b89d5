"""Functions that are composed of the core's."""
from numpy.lib import stride_tricks

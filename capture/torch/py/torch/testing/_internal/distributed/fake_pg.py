"""A group of processes in which nothing is sent."""
from torch._absent import declare

declare("FakeProcessGroup", "FakeStore")

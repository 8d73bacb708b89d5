"""Builtin functions in Python, for capture: what it cannot look into, because it is not Python, it looks into here.

The names of variables and the order of operations are part of what they do, as graphs show both.
"""

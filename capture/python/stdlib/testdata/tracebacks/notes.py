import sys
try:
    raise ValueError("a") from None
except ValueError:
    pass
def g():
    with open("/nonexistent/file") as f:
        pass
try:
    g()
except OSError as e:
    e.add_note("note one\nsecond")
    raise

class autocast:
    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        self.enabled = enabled

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False

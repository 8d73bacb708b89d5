from logging import FileHandler, Handler, StreamHandler


class RotatingFileHandler(FileHandler):
    def __init__(self, filename, mode='a', maxBytes=0, backupCount=0, encoding=None, delay=False, errors=None):
        super().__init__(filename, mode)


class MemoryHandler(Handler):
    def __init__(self, capacity, flushLevel=40, target=None, flushOnClose=True):
        super().__init__()
        self.capacity, self.flushLevel, self.target, self.buffer = capacity, flushLevel, target, []

    def emit(self, record):
        self.buffer.append(record)
        if len(self.buffer) >= self.capacity or record.levelno >= self.flushLevel:
            self.flush()

    def flush(self):
        if self.target:
            for r in self.buffer:
                self.target.handle(r)
            self.buffer.clear()

from . import JSONDecodeError, JSONDecoder

from . import JSONEncoder

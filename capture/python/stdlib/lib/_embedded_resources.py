"""The data files of packages that are part of this program, for importlib.resources."""
import importlib.resources.abc as abc
import io

import _whittle


class Place(abc.Traversable):
    """A file or folder in the embedded library, there or not."""

    def __init__(self, path):
        self.path = path

    def __repr__(self):
        return f"{type(self).__name__}({self.path!r})"

    @property
    def name(self):
        return self.path.rpartition("/")[2]

    def is_dir(self):
        return _whittle.embedded_entries(self.path) is not None

    def is_file(self):
        return (self.name, False) in (_whittle.embedded_entries(self.path.rpartition("/")[0]) or ())

    def iterdir(self):
        entries = _whittle.embedded_entries(self.path)
        if entries is None:
            raise FileNotFoundError(2, "No such file or directory", self.path)
        for name, _ in entries:
            yield Place(f"{self.path}/{name}")

    def joinpath(self, *parts):
        return Place("/".join([self.path, *map(str, parts)]))

    __truediv__ = joinpath

    def open(self, mode="r", *args, **kwargs):
        if mode not in ("r", "rb"):
            raise ValueError(f"Invalid mode value {mode!r}, only 'r' and 'rb' are supported")
        if not self.is_file():
            raise FileNotFoundError(2, "No such file or directory", self.path)
        data = io.BytesIO(_whittle.source_text(self.path).encode())
        return data if mode == "rb" else io.TextIOWrapper(data, *args, **kwargs)


class Reader(abc.TraversableResources):
    """Reads the data files beside a module."""

    def __init__(self, folder):
        self.folder = folder

    def files(self):
        return Place(self.folder)

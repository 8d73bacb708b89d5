"""Makes the texts in FILES, which stand before this one, modules of the package whittle_far, and starts it."""
import importlib.util
import sys


class Files:
    """Finds and loads modules whose text is in FILES: nothing of them lies in a folder."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        package, _, module = name.partition(".")
        if package != "whittle_far" or module and module not in FILES:
            return None
        return importlib.util.spec_from_loader(name, cls, is_package=not module)

    @staticmethod
    def create_module(spec):
        return None

    @classmethod
    def exec_module(cls, module):
        exec(compile(cls.get_source(module.__name__), "whittle_far/%s.py" % module.__name__.rpartition(".")[2], "exec"), module.__dict__)

    @staticmethod
    def get_source(name):  # tracebacks ask for it
        return FILES.get(name.partition(".")[2], "")


sys.meta_path.insert(0, Files)

if __name__ == "__main__":
    if sys.argv[1:2] == ["fresh"]:
        from whittle_far.fresh import fresh
        fresh(int(sys.argv[2]), int(sys.argv[3]))
    else:
        from whittle_far.serve import main
        main(SOURCE)

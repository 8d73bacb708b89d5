"""Files that the C++ compiler writes are there when they are whole."""
import os
import shlex


def whole_files():
    """Has the compiler write beside the file that it is to make, which then takes its place. A query may be ended at any moment; what it was just
    making must not be found by others: PyTorch takes any library that is there to be whole, and says of half a one that it cannot be loaded."""
    from torch._inductor import cpp_builder
    run = getattr(cpp_builder, "_run_compile_cmd", None)
    if run is None:
        return

    def into_place(command, cwd):
        words = shlex.split(command)
        if "-o" not in words[:-1]:
            return run(command, cwd)
        at = words.index("-o") + 1
        made = os.path.join(cwd, words[at])
        words[at] = "%s.part-%d" % (made, os.getpid())
        status = run(shlex.join(words), cwd)
        os.rename(words[at], made)
        return status

    cpp_builder._run_compile_cmd = into_place

"""The C++ header that every kernel begins with, compiled once."""
import ast
import contextlib
import fcntl
import glob
import hashlib
import os
import re

from .joined import NEEDED, joined_header


# GCC's library has C++17's special functions, which no kernel calls, and which every compilation would instantiate.
UNUSED = "#include <cstddef>\n#undef _GLIBCXX_USE_STD_SPEC_FUNCS\n"


def share_headers(folder):
    """Newer versions of PyTorch precompile the kernels' header, and every process preprocesses it first to see whether it has changed. The
    questions of one engine do that once: what the first was told lies in folder."""
    from torch._inductor import codecache
    ask = getattr(codecache, "_precompile_header", None)
    if ask is None:
        return

    def precompiled(header, command, **options):
        note = os.path.join(folder, "header-" + hashlib.sha1(repr((header, command, sorted(options.items()))).encode()).hexdigest())
        with contextlib.suppress(OSError), open(note) as f:
            made = f.read()
            if os.path.exists(made + ".gch"):
                return made
        made = ask(header, command, **options)
        part = "%s.%d" % (note, os.getpid())
        with open(part, "w") as f:
            f.write(made)
        os.rename(part, note)
        return made

    codecache._precompile_header = precompiled


def precompile(text=""):
    """Compiles the header that every C++ kernel begins with, for the flags that the settings in a repro's text lead to, and after it those for
    joined sources. The compiler takes the result by itself, and only for the very same flags. The user's cache keeps it."""
    import shlex
    from torch._inductor.codecache import cpp_prefix
    from torch._inductor.cpp_builder import CppBuilder, CppTorchOptions, get_compiler_version_info, get_cpp_compiler
    from torch._inductor.cpu_vec_isa import pick_vec_isa
    set_up(text)
    header = re.search(r'"(.*?)"', cpp_prefix()).group(1)
    command = shlex.split(CppBuilder("prefix", [header], CppTorchOptions(vec_isa=pick_vec_isa(), warning_all=True), os.path.dirname(header)).get_command_line())
    keep, skip = [], False
    for word in command:
        if skip or word == "-o":
            skip = not skip
        elif word != header and word != "-shared" and not re.match(r"-[lL]|-Wl", word):
            keep.append(word)
    version = get_compiler_version_info(get_cpp_compiler())
    with open(header) as f:
        whole = f.read()
    light = UNUSED + only_if_used(whole)
    ready(header, keep, version, [light, whole])
    for vectors in (True, False):
        more = for_joined(light, vectors)
        joined = joined_header(header, command, vectors)
        if more is not None and ready(joined, keep, version, [more]):
            part = "%s.%d" % (joined, os.getpid())
            with open(part, "w") as f:
                f.write(more)
            os.rename(part, joined)
    return True


def for_joined(header, vectors):
    """A header of kernels with what else a joined source needs. Without vectors, half of the time that it takes goes, if what they bring along goes as
    well: special functions, a few of which kernels seldom call. None where it cannot be."""
    plain = re.sub(r"^(#define INDUCTOR_USE_VECTOR_TYPES\(\)) 1$", r"\1 0", header, flags=re.M)
    if not vectors and plain == header:
        return None
    plain = plain.replace("#include <ATen/native/Math.h>", "#include <vector>")
    return "\n".join([UNUSED + "#define PY_SSIZE_T_CLEAN", "#include <Python.h>", "#include <sstream>", *["#include <%s>" % name for name in NEEDED], header if vectors else plain])


def ready(header, command, version, texts):
    """Compiles the first of texts for which that works, where the compiler looks for what a header is when it is compiled. False where none does."""
    key = hashlib.sha1((texts[0] + " ".join(command) + version).encode()).hexdigest()[:20]
    home = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "whittle")
    made = os.path.join(home, "prefix-%s.gch" % key)
    if not os.path.exists(made):
        try:
            os.makedirs(home, exist_ok=True)
        except OSError:
            made = header + ".made-" + key
        with open(made + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two that are asked for at once are often the same
            drop_parts(made)
            if not os.path.exists(made) and not compiled(texts, command, made):
                return False
    with contextlib.suppress(FileExistsError):
        os.mkdir(header + ".gch")  # of the files in such a folder, the compiler takes the one that fits its flags
    with contextlib.suppress(FileExistsError):
        os.symlink(made, os.path.join(header + ".gch", key))
    return True


def compiled(texts, command, made):
    """Compiles the first of some texts of a header for which that works. False where none does."""
    import subprocess
    part = "%s.%d" % (made, os.getpid())
    for text in texts:
        with open(part + ".h", "w") as f:
            f.write(text)
        good = subprocess.run(command + ["-x", "c++-header", part + ".h", "-o", part], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        os.remove(part + ".h")
        if good:
            os.rename(part, made)
            return True
    return False


def drop_parts(made):
    """Removes what compilations of a header left that were killed. Who calls it holds the header's lock, so that none is under way."""
    for part in glob.glob(glob.escape(made) + ".[0-9]*"):
        with contextlib.suppress(OSError):
            os.remove(part)


def set_up(text):
    """Does what the settings in a repro's text say, and nothing else of it."""
    ns = {}
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.Import) or isinstance(statement, ast.Assign) and re.match(r"torch\.\S*config\.\S+ = ", ast.unparse(statement)):
            with contextlib.suppress(Exception):
                exec(compile(ast.Module([statement], []), "repro.py", "exec"), ns)


def only_if_used(header):
    """A header whose functions are compiled where they are used: those that are neither inline nor templates would be part of every kernel, and
    most of its time. As templates they do not even need what they use themselves; those that have overloads are inline, as a template would
    rank behind them."""
    begins = re.compile(r"^(?!(?:inline|static|template|constexpr|extern|typedef|using|struct|class|enum|namespace)\b)[a-z][\w:<>\[\], *&]* (\w+)\(", re.M)
    names = re.findall(r"^[a-z][\w:<>\[\], *&]* (\w+)\(", header, re.M)

    def on_demand(m):
        depth = 0
        for c in header[m.end():]:
            depth += {"(": 1, ")": -1}.get(c, 0)
            if c in "{;" and depth < 0:
                break
        before = header[:m.start()].rstrip()
        if c == ";" or before.endswith(">") or " inline " in m.group():
            return m.group()
        return ("template <int = 0> " if names.count(m.group(1)) == 1 else "inline ") + m.group()
    return begins.sub(on_demand, header)

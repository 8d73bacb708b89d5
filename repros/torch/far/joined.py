"""Several kernels' sources as one, and the libraries that are made of it."""
import contextlib
import hashlib
import os
import re
import shutil
import subprocess

MOST_ARGS = 256  # of a kernel that the one binding calls
EXPORTED = re.compile(r'(?:extern\s+"C"|PyMODINIT_FUNC)[^;{}()]*?\b(\w+)\s*\(')


def compile_joined(files, command):
    """Makes the libraries of files, pairs of a source and what it becomes, by one run of the compiler; command is that for the first of
    them. "" where they are there, else what the compiler says, as far as it says something: then none of them is."""
    source, made = files[0]
    texts = []
    for path, _ in files:
        with open(path) as f:
            texts.append(f.read())
    text = join(texts, [os.path.basename(output) for _, output in files], [path for path, _ in files])
    if text is None:
        return "they are none that can be joined"
    together = "%s.joined-%d" % (source, os.getpid())
    words = [{source: together + ".cpp", made: together + ".so"}.get(w, w) for w in command]
    for attempt, whole in with_headers(text, command):
        with open(together + ".cpp", "w") as f:
            f.write(attempt)
        said = make(words if whole else without_torch(words), whole)
        if said == "":
            break
    else:
        return said
    for _, output in files:
        part = "%s.part-%d" % (output, os.getpid())
        shutil.copyfile(together + ".so", part)  # links would not do: a process loads one file once, under whatever name
        os.rename(part, output)
    for end in (".cpp", ".so"):
        os.remove(together + end)
    return ""


def make(words, whole):
    """Runs the compiler. "" where it made what it is to make, and nothing but Python is missing in it where it is not linked with the whole of
    what it may need; else what it says."""
    run = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"})
    said = run.stderr.decode(errors="replace")
    if run.returncode != 0:
        return said or "exit status %d" % run.returncode
    missing = [] if whole else [name for name in re.findall(r"undefined reference to `(.*)'", said) if not name.startswith(("Py", "_Py"))]
    return "missing: %s" % missing[0] if missing else ""


def without_torch(words):
    """A command that does not look into PyTorch's libraries, which are a third of the linker's time, and tells what it did not find elsewhere."""
    return [w for w in words if not w.startswith("-ltorch")] + ["-Wl,-z,defs,--warn-unresolved-symbols"]


def with_headers(text, command):
    """The texts to try for a joined source, in order, each with whether all that PyTorch offers may be used in it: its kernels' header gives way to
    one that was made for joined sources, where there is one. Such a header has what Python needs as well, and that for kernels without vectors
    neither has these nor much else."""
    include = re.search(r'^#include "(.*)"$', text, re.M)
    if include:
        before, after = text[:include.start()], text[include.end():]
        for vectors in (True,) if has_vectors(after) else (False, True):
            header = joined_header(include.group(1), command, vectors)
            if os.path.exists(header):
                yield '%s#include "%s"%s' % (before, header, after), vectors
    yield text, True


def has_vectors(text):
    """Whether a source may use vectors, by its names."""
    return re.search("vec", text, re.I) is not None


def uses_vectors(path):
    """Whether the source in a file may use vectors. One that is not there does not."""
    with contextlib.suppress(OSError), open(path) as f:
        return has_vectors(f.read())
    return False


def joined_header(header, command, vectors):
    """Where the header for joined sources lies that stands for another. It is there when the compiler has made it ready for the flags of command."""
    flags = sorted({w for w in command[1:] if not re.match(r"-[ILlWo]|-shared$|-c$", w) and not re.search(r"\.(?:cpp|so|h|o)$", w)})
    return "%s.%s-%s.h" % (header, "vectors" if vectors else "plain", hashlib.sha1(repr(flags).encode()).hexdigest()[:20])


def named_in(said, source):
    """Whether a compiler found an error in a source."""
    return re.search(r"^%s:\d+:\d+: (?:fatal )?error: " % re.escape(source), said, re.M) is not None


def join(texts, names, sources):
    """One source for modules, each of which is imported from a file of its name: what a library is initialised as depends on the name under
    which it was loaded. Errors name the sources as they were. None where a source is none that can be joined.

    What Python needs to call a kernel is most of a small source. Where Inductor wrote it as it always does, one for all of them takes its place."""
    includes, bodies, bound, starts, cases = [], [], [], [], []
    for i, text in enumerate(texts):
        found, body, movable = split(text)
        includes += [line for line in found if line not in includes]
        exported = sorted(set(EXPORTED.findall(body)))
        inits = [name for name in exported if name.startswith("PyInit_")]
        if not movable or len(inits) != 1:
            return None
        starts.append(inits[0])
        binding = Binding.of(body, exported)
        if binding is not None:
            body = binding.kernel
            bound.append('    {"%s", "%s", "%s", reinterpret_cast<void (*)()>(&joined_%d::%s_%d), with<%d>},' % (
                names[i], binding.name, binding.takes, i, binding.name, i, len(binding.takes)))
        else:
            cases.append('    if (std::strstr(about.dli_fname, "%s")) return joined_%d::%s_%d();' % (names[i], i, inits[0], i))
        bodies += ["#define %s %s_%d" % (name, name, i) for name in exported]
        bodies += ["namespace joined_%d {" % i, '#line 1 "%s"' % sources[i], body, "}"]
        bodies += ["#undef %s" % name for name in exported]
    if len(set(starts)) != 1:
        return None
    return "\n".join(includes + ["#include <%s>" % name for name in NEEDED] + bodies + [
        "static const char here = 0;",
        *([CALLS.replace("MOST_ARGS", str(MOST_ARGS)).replace("KERNELS", "\n".join(bound))] if bound else []),
        "PyMODINIT_FUNC %s(void) {" % starts[0],
        "    Dl_info about;",
        "    if (!dladdr(&here, &about)) return nullptr;",
        *(["    for (const auto &kernel : whittle::kernels)", "        if (std::strstr(about.dli_fname, kernel.file)) return whittle::module_of(kernel);"] if bound else []),
        *cases,
        "    return nullptr;",
        "}", ""])


class Binding:
    """What Inductor wrote for a kernel to be called from Python: a name, and of each argument whether it is a tensor (t), of which the kernel
    gets the data's address, or an integer (i)."""
    CALL = re.compile(r"\b(\w+)\(((?:parse_arg<\w+ ?\*?>\(args, \d+\)(?:, )?)*)\); ?Py_RETURN_NONE;")

    def __init__(self, kernel, name, takes):
        self.kernel, self.name, self.takes = kernel, name, takes

    @classmethod
    def of(cls, body, exported):
        """None where it is not what it always is."""
        kernel, mark, rest = body.partition("// Python bindings to call ")
        calls = cls.CALL.findall(rest)
        if not mark or len(calls) != 1 or calls[0][0] not in exported:
            return None
        name, args = calls[0]
        kinds = re.findall(r"parse_arg<(\w+ ?\*?)>", args)
        if any(not kind.endswith("*") and kind != "int64_t" for kind in kinds) or len(kinds) > MOST_ARGS:
            return None
        return cls(kernel, name, "".join("t" if kind.endswith("*") else "i" for kind in kinds))


NEEDED = ["cstdint", "cstdlib", "cstring", "dlfcn.h", "stdexcept", "utility"]  # headers of what follows

# How kernels are called, for all of a joined source: addresses and integers are passed in the same way.
CALLS = r"""
namespace whittle {

struct Kernel {
    const char *file, *name, *takes;
    void (*run)();
    void (*call)(void (*)(), const std::uintptr_t *);
};

template <std::size_t... I>
static void with_each(void (*run)(), const std::uintptr_t *args, std::index_sequence<I...>) {
    reinterpret_cast<void (*)(decltype(static_cast<void>(I), std::uintptr_t())...)>(run)(args[I]...);
}

template <std::size_t N>
static void with(void (*run)(), const std::uintptr_t *args) {
    with_each(run, args, std::make_index_sequence<N>());
}

static const Kernel kernels[] = {
KERNELS
};

static void *(*address_of)(PyObject *tensor);

static PyObject *call(PyObject *self, PyObject *args) {
    try {
        const Kernel &kernel = *static_cast<const Kernel *>(PyCapsule_GetPointer(self, nullptr));
        const std::size_t count = std::strlen(kernel.takes);
        if (!PyTuple_CheckExact(args) || static_cast<std::size_t>(PyTuple_GET_SIZE(args)) != count)
            throw std::runtime_error("requires " + std::to_string(count) + " args");
        std::uintptr_t values[MOST_ARGS];
        for (std::size_t i = 0; i < count; i++) {
            PyObject *arg = PyTuple_GET_ITEM(args, i);
            if (kernel.takes[i] == 't') {
                values[i] = reinterpret_cast<std::uintptr_t>(address_of(arg));
                continue;
            }
            const Py_ssize_t value = PyLong_AsSsize_t(arg);
            if (value == -1 && PyErr_Occurred())
                throw std::runtime_error("expected int arg");
            values[i] = static_cast<std::uintptr_t>(value);
        }
        kernel.call(kernel.run, values);
        Py_RETURN_NONE;
    } catch (const std::exception &e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
    } catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "unhandled error");
    }
    return nullptr;
}

static PyObject *module_of(const Kernel &kernel) {
    static PyModuleDef definition = {PyModuleDef_HEAD_INIT, kernel.name, nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
    static PyMethodDef method = {kernel.name, call, METH_VARARGS, nullptr};
    const char *address = std::getenv("_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR");
    if (address == nullptr) {
        PyErr_SetString(PyExc_RuntimeError, "_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR must be set");
        return nullptr;
    }
    address_of = reinterpret_cast<void *(*)(PyObject *)>(std::strtoull(address, nullptr, 10));
    PyObject *module = PyModule_Create(&definition);
    PyObject *self = PyCapsule_New(const_cast<Kernel *>(&kernel), nullptr, nullptr);
    if (module == nullptr || self == nullptr || PyModule_AddObject(module, kernel.name, PyCFunction_New(&method, self)) < 0)
        return nullptr;
    return module;
}

}
"""


def split(text):
    """The lines of a source that belong before all else, the others, and whether that is all the same: what is only included under a condition
    cannot be moved."""
    depth, first, rest, movable = 0, [], [], True
    for line in text.split("\n"):
        word = re.match(r"\s*#\s*(\w+)", line)
        word = word.group(1) if word else ""
        if word in ("if", "ifdef", "ifndef"):
            depth += 1
        if word == "endif":
            depth -= 1
        movable = movable and not (word == "include" and depth > 0)
        if word == "include" or word == "define" and "PY_SSIZE_T_CLEAN" in line:
            first.append(line.strip())
            line = ""
        rest.append(line)
    return first, "\n".join(rest), movable

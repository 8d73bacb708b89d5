"""Several kernels' sources as one, and the libraries that are made of it."""
import os
import re
import shutil
import subprocess

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
    with open(together + ".cpp", "w") as f:
        f.write(text)
    words = [{source: together + ".cpp", made: together + ".so"}.get(w, w) for w in command]
    run = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if run.returncode != 0:
        return run.stderr.decode(errors="replace") or "exit status %d" % run.returncode
    for _, output in files:
        part = "%s.part-%d" % (output, os.getpid())
        shutil.copyfile(together + ".so", part)  # links would not do: a process loads one file once, under whatever name
        os.rename(part, output)
    for end in (".cpp", ".so"):
        os.remove(together + end)
    return ""


def named_in(said, source):
    """Whether a compiler found an error in a source."""
    return re.search(r"^%s:\d+:\d+: (?:fatal )?error: " % re.escape(source), said, re.M) is not None


def join(texts, names, sources):
    """One source for modules, each of which is imported from a file of its name: what a library is initialised as depends on the name under
    which it was loaded. Errors name the sources as they were. None where a source is none that can be joined."""
    includes, bodies, starts = [], [], []
    for i, text in enumerate(texts):
        found, body, movable = split(text)
        includes += [line for line in found if line not in includes]
        exported = sorted(set(EXPORTED.findall(body)))
        inits = [name for name in exported if name.startswith("PyInit_")]
        if not movable or len(inits) != 1:
            return None
        starts.append(inits[0])
        bodies += ["#define %s %s_%d" % (name, name, i) for name in exported]
        bodies += ["namespace joined_%d {" % i, '#line 1 "%s"' % sources[i], body, "}"]
        bodies += ["#undef %s" % name for name in exported]
    if len(set(starts)) != 1:
        return None
    cases = ['    if (std::strstr(about.dli_fname, "%s")) return joined_%d::%s_%d();' % (name, i, starts[0], i) for i, name in enumerate(names)]
    return "\n".join(includes + ["#include <cstring>", "#include <dlfcn.h>"] + bodies + [
        "static const char here = 0;",
        "PyMODINIT_FUNC %s(void) {" % starts[0],
        "    Dl_info about;",
        "    if (!dladdr(&here, &about)) return nullptr;",
        *cases,
        "    return nullptr;",
        "}", ""])


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

"""The choices that Inductor makes, each of which can be left out: what torch's own CompilerBisector is asked about, fusions, vector code, settings."""
import collections
import contextlib
import hashlib
import re

SETTINGS = {  # of torch._inductor.config, with the value that does without
    "inplace_buffers": False, "allow_buffer_reuse": False, "split_reductions": False, "epilogue_fusion": False, "pattern_matcher": False,
    "loop_ordering_after_fusion": False, "cpp.threads": 1, "aot_inductor.debug_compile": True,
}


class Choices:
    """Says of each choice whether it is taken, and tells the parent of those that were asked about.

    what is the job's: "kinds" are those of which any is taken, "only" the ids of those that are taken, of these kinds; None stands for all.
    An id is a hash of the kind, of a text that does not change from run to run, and of how often that came before.
    """

    def __init__(self, what, mark):
        self.kinds, self.only = what.get("kinds"), what.get("only")
        self.mark, self.seen, self.answers = mark, collections.Counter(), {}

    def take(self, kind, text, shown="", where=""):
        if self.kinds is not None and kind not in self.kinds:
            return False
        self.seen[kind, text] += 1
        id = hashlib.sha256(("%s\0%s\0%d" % (kind, text, self.seen[kind, text])).encode()).hexdigest()[:12]
        self.mark.choice({"id": id, "kind": kind, "text": shown or text, "where": where})
        return self.only is None or id in self.only

    def once(self, key, *choice):
        """The same answer for the same key: what asks more than once about one thing."""
        if key not in self.answers:
            self.answers[key] = self.take(*choice)
        return self.answers[key]

    def install(self):
        self.settings()
        self.bisector()
        for patch in (self.fusions, self.vectors):
            with contextlib.suppress(ImportError, AttributeError):  # a torch without it does not ask
                patch()

    def settings(self):
        """Settings count as taken as they are. Which ones torch's bisector tries is its own to say."""
        import torch
        from torch._inductor.compiler_bisector import BACKENDS
        wanted = {"torch._inductor.config." + name: value for name, value in SETTINGS.items()}
        for backend, subsystems in BACKENDS.items():
            for s in subsystems:
                if hasattr(s, "config_field"):
                    module = "torch._inductor.config." if backend == "inductor" else "torch._functorch.config."
                    wanted[module + s.config_field] = s.config_value
        for name, value in sorted(wanted.items()):
            holder, last = torch, name.split(".")[1:]
            try:
                for part in last[:-1]:
                    holder = getattr(holder, part)
                now = getattr(holder, last[-1])
            except AttributeError:
                continue
            if now != value and not self.take("settings", name, "%s = %r, not %r" % (name, now, value)):
                setattr(holder, last[-1], value)

    def bisector(self):
        """Stands in for torch's bisector: what it would count, is asked about here."""
        from torch._inductor import compiler_bisector

        def disable_subsystem(cls, backend, subsystem, debug_info=None):
            text = debug_info() if debug_info is not None else subsystem
            shown = where = ""
            if subsystem == "lowerings":
                from torch._inductor.virtualized import V
                node = V.graph.current_node
                text, shown, where = str(node.target), "%s = %s" % (node.name, node.target), origin(node)
            elif subsystem == "decomposition":
                m = re.match(r"<OpOverload\(op='(.*)', overload='(.*)'\)>$", text)
                text = ".".join(m.groups()) if m else text
            return not self.take(subsystem, text, shown, where)
        compiler_bisector.CompilerBisector.disable_subsystem = classmethod(disable_subsystem)

    def fusions(self):
        from torch._inductor.scheduler import Scheduler
        can_fuse = Scheduler.can_fuse

        def fuse(scheduler, a, b, *more, **options):
            can = can_fuse(scheduler, a, b, *more, **options)
            if not can:
                return can
            names = a.get_name(), b.get_name()
            sides = [origins(x) for x in (a, b)]
            return can if self.once(("fusion", names), "fusion", " | ".join(targets(s) for s in sides), "%s with %s" % tuple(", ".join(n.name for n in s) or name for s, name in zip(sides, names)), origin(*sides[1])) else False
        Scheduler.can_fuse = fuse

    def vectors(self):
        from torch._inductor.codegen.cpp import TilingSelect
        select = TilingSelect.select_tiling

        def tile(selector, fn_list, var_sizes_list, *more, **options):
            result = select(selector, fn_list, var_sizes_list, *more, **options)
            if not result[0]:
                return result
            nodes = sorted({n for f in fn_list for x in scheduled(f) for n in origins(x)}, key=lambda n: n.name)
            key = "vectorisation", tuple(n.name for n in nodes), str(var_sizes_list)
            if self.once(key, "vectorisation", targets(nodes), ", ".join(n.name for n in nodes), origin(*nodes)):
                return result
            return ([], [], *result[2:])
        TilingSelect.select_tiling = tile


def scheduled(f):
    """The scheduler node that a function of a kernel's code belongs to."""
    inner = getattr(f, "original_fn", f)
    return [x for x in (getattr(inner, "args", ()) or ())[:1] if hasattr(x, "node")]


def origins(node):
    """The fx nodes that a scheduler node computes."""
    out = {}
    for n in node.get_nodes():
        for o in getattr(n.node, "origins", None) or ():
            if o.op == "call_function":
                out[o.name] = o
    return [out[name] for name in sorted(out)]


def targets(nodes):
    return ", ".join(str(n.target) for n in nodes)


def origin(*nodes):
    """The user's line that nodes come from: file:line, and what stands there."""
    for n in nodes:
        found = re.findall(r'File "(.*?)", line (\d+), in [^\n]*\n\s*([^\n]*)', n.meta.get("stack_trace") or "")
        if found:
            return "%s:%s: %s" % found[-1]
    return ""

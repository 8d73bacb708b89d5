"""Where a process is, told to another one that may have to say where it ended.

A process that is killed raises nothing: what it was at is only known to itself. So a child that looks for the place of a failure leaves a mark
in memory that it shares with its parent before it enters a generated kernel, an operator that generated code calls, a pass, or a node that is
lowered. A mark is a copy of bytes, and no call of the system."""
import contextlib
import functools
import json
import mmap
import struct

HEAD, FRONT = struct.Struct("=Q"), struct.Struct("=QI")  # of the page: the last mark's number; of a slot: its number, and how long it is
SLOT = 1 << 14  # bytes


class Page:
    """Memory for the last mark, made before a fork. Marks have numbers and go to two slots in turn, so that one which was only half written is
    not taken: the one before it still stands."""

    def __init__(self):
        self.memory, self.number = mmap.mmap(-1, HEAD.size + 2 * SLOT), 0

    def write(self, mark):
        self.number += 1
        at = HEAD.size + self.number % 2 * SLOT
        FRONT.pack_into(self.memory, at, self.number, len(mark))
        self.memory[at + FRONT.size:at + FRONT.size + len(mark)] = mark
        HEAD.pack_into(self.memory, 0, self.number)

    def read(self):
        """The last mark; None where there is none, or where whoever died has written over it. A process that lives may write faster than this
        reads: then it is read again."""
        for _ in range(100):
            number, = HEAD.unpack_from(self.memory, 0)
            at = HEAD.size + number % 2 * SLOT
            same, size = FRONT.unpack_from(self.memory, at)
            text = self.memory[at + FRONT.size:at + FRONT.size + min(size, SLOT - FRONT.size)]
            if number and same == number and HEAD.unpack_from(self.memory, at) == (number,):
                return self.checked(text)
        return None

    @staticmethod
    def checked(text):
        try:
            mark = json.loads(text)
        except ValueError:
            return None
        known = isinstance(mark, dict) and isinstance(mark.get("at"), str) and all(isinstance(mark.get(k), list) for k in ("calls", "views"))
        return mark if known and all(isinstance(c, str) for c in mark["calls"] + mark["views"]) else None


NOWHERE = b""  # above the compiler and what it made, or in eager


def mark_of(at, calls, views=()):
    """A mark's bytes. at says where in words, calls are those of the repro that this stands for, and views those that only say how it looks at what
    it reads."""
    for most in (len(calls) + len(views), 64, 0):
        mark = json.dumps({"at": at, "calls": calls[:most], "views": list(views)[:most]}).encode()
        if len(mark) <= SLOT - FRONT.size:
            return mark
    return NOWHERE


class Watch:
    """Marks where the compiler is, and what it made, from now on until the process ends."""

    def __init__(self, page, lines=None):
        self.page, self.here = page, NOWHERE
        self.lines = lines or {}  # of the repro's forward, for nodes that know where they come from
        self.kernels = None  # of the graph that is compiled: blame.Kernels
        self.externs = {}  # of that graph, by name: the origins of each call of it, in order
        for watch in (self.passes, self.nodes, self.code, self.modules):
            with contextlib.suppress(Exception):  # a torch that has no such thing
                watch()

    def begin(self, kernels):
        """A graph's compilation begins."""
        self.kernels, self.externs = kernels, {}

    def say(self, mark):
        self.here = mark
        self.page.write(mark)

    @contextlib.contextmanager
    def within(self, mark):
        before = self.here
        self.say(mark)
        try:
            yield
        finally:
            self.say(before)

    def calls(self, nodes):
        """The repro's calls that nodes of a graph, by name, come from."""
        return [] if self.kernels is None else self.kernels.called(nodes)

    def passes(self):
        from torch._inductor import pattern_matcher
        from torch.fx.passes.graph_transform_observer import GraphTransformObserver
        enter, leave, outer = GraphTransformObserver.__enter__, GraphTransformObserver.__exit__, []

        def entered(observer):
            outer.append(self.here)
            self.say(mark_of("the pass %s" % observer.passname, []))
            return enter(observer)

        def left(observer, *a):
            self.say(outer.pop() if outer else NOWHERE)
            return leave(observer, *a)

        def applied(real):
            @functools.wraps(real)
            def apply(entry, match, graph, node):
                with self.within(mark_of("a pattern that matches at %s" % node.name, self.of(node))):
                    return real(entry, match, graph, node)
            return apply

        GraphTransformObserver.__enter__, GraphTransformObserver.__exit__ = entered, left
        for entry in (pattern_matcher.LoweringPatternEntry, pattern_matcher.GraphPatternEntry, pattern_matcher.ReplacementPatternEntry):
            entry.apply = applied(entry.apply)

    def nodes(self):
        """Whatever goes through a graph node by node: lowering, the propagation of shapes, a backend that runs the graph as it is."""
        from torch.fx import Interpreter
        run_node = Interpreter.run_node

        def marked(interpreter, node):
            if not node.op.startswith("call"):
                return run_node(interpreter, node)
            doing = "lowering" if type(interpreter).__name__ == "GraphLowering" else type(interpreter).__name__ + " at"
            with self.within(mark_of("%s %s" % (doing, node.name), self.of(node))):
                return run_node(interpreter, node)

        Interpreter.run_node = marked

    def of(self, node):
        from .graphs import line_in_repro
        line = line_in_repro(node)
        return [self.lines[line]] if line in self.lines else self.calls([node.name])

    def code(self):
        """The making of kernels, by Inductor and by the C++ compiler."""
        from torch._inductor.async_compile import AsyncCompile
        from torch._inductor.graph import GraphLowering
        from torch._inductor.scheduler import Scheduler
        codegen, extern = GraphLowering.codegen, Scheduler.codegen_extern_call

        def generated(graph):
            with self.within(mark_of("making kernels of what was lowered", [])):
                return codegen(graph)

        def called(scheduler, node):
            from .blame import origins
            name = getattr(node.node, "python_kernel_name", None)
            if name:
                self.externs.setdefault(name, []).append(origins([node]))
            with self.within(mark_of("generating the call of %s" % name, self.calls(origins([node])))):
                return extern(scheduler, node)

        def built(real):
            def build(compiler, *a):
                kernel = self.kernels and self.kernels.named(a[-1])
                mark = mark_of("the C++ compiler, at the kernel %s" % kernel, self.calls(self.kernels.sources[kernel][1])) if kernel else mark_of("the C++ compiler", [])
                with self.within(mark):
                    made = real(compiler, *a)
                if getattr(made, "result_fn", None) is not None:  # it is under way, and somebody will wait for it
                    made.result_fn = self.marked(mark, made.result_fn)
                return made
            return build

        GraphLowering.codegen, Scheduler.codegen_extern_call = generated, called
        AsyncCompile.cpp, AsyncCompile.cpp_pybinding = built(AsyncCompile.cpp), built(AsyncCompile.cpp_pybinding)

    def marked(self, mark, f):
        def inner(*a, **k):
            with self.within(mark):
                return f(*a, **k)
        return inner

    def modules(self):
        """The generated modules: what they call by their names."""
        from torch._inductor.codecache import PyCodeCache
        load = PyCodeCache.load_by_key_path

        def loaded(*a, **k):
            module = load(*a, **k)
            with contextlib.suppress(Exception):
                self.wrap(vars(module))
            return module

        PyCodeCache.load_by_key_path = staticmethod(loaded)

    def views(self, nodes, made):
        """The nodes before these that nothing was made from: no kernel and no call of an operator stands for them."""
        found, todo = set(), list(nodes)
        while todo:
            new = {i for i in self.kernels.inputs.get(todo.pop(), ()) if i not in made} - found
            found |= new
            todo.extend(new)
        return found

    def wrap(self, names):
        """Has the code whose global names these are mark what it enters. What was entered last stays marked until the graph's end: a kernel that
        writes where it must not may only be found out later."""
        made = set().union(*(o for each in (*self.kernels.entered.values(), *self.externs.values()) for o in each))
        marks = {name: [mark_of("the kernel %s" % name, self.calls(o), self.calls(self.views(o, made))) for o in each] for name, each in self.kernels.entered.items()}
        marks |= {name: [mark_of(name, self.calls(o), self.calls(self.views(o, made))) for o in each] for name, each in self.externs.items()}
        entered = {}  # how often, by name, since the graph began

        def enter(name):
            n = entered[name] = entered.get(name, 0) + 1
            if name in marks:
                self.say(marks[name][min(n, len(marks[name])) - 1])

        def kernel(name, real):
            def run(*a, **k):
                enter(name)
                return real(*a, **k)
            return run

        call = names["call"]

        def graph(*a, **k):
            entered.clear()
            with self.within(mark_of("the compiled graph", [])):
                return call(*a, **k)

        for name, value in list(names.items()):
            if name in self.kernels.entered and callable(value):
                names[name] = kernel(name, value)
        for name in ("torch", "extern_kernels", "aten", "inductor_ops"):
            if name in names:
                names[name] = Path(name, names[name], enter)
        names["call"] = graph


class Path:
    """Stands in for a name of generated code, and for what it finds under that: calling one calls enter first, with its whole name."""

    def __init__(self, name, real, enter):
        self.__dict__.update(name=name, real=real, enter=enter)

    def __getattr__(self, part):
        value = getattr(self.real, part)
        if self.name == "torch" and part != "ops" or not callable(value) and not type(value).__name__ == "_OpNamespace" and part != "ops":
            return value
        return Path("%s.%s" % (self.name, part), value, self.enter)

    def __call__(self, *a, **k):
        self.enter(self.name)
        return self.real(*a, **k)

"""Which calls of a repro a failing kernel, or a wrong buffer, stands for."""
import contextlib
import copy
import functools
import re
import traceback

from .graphs import clones, forward_lines, intermediates, line_in_repro, twin
from .judge import noisy_intermediates
from .outcome import describe, innermost, told
from .strict import far


FEW, CLOSE, SPARSE, HOPS = 4, 24, 16, 2  # calls that are soon asked about one by one; see tapped; edges before a wrong call


class Kernels:
    """Which calls of the repro's text each generated kernel stands for. It looks on while Inductor works."""

    def __init__(self, gm, names):
        self.sources = {}  # by name: the code, and the names of the nodes that it came from
        self.entered = {}  # by name: the names of the nodes that each call of it stands for, in order; layers that are alike share their kernels
        self.names = names
        self.order = {n.name: i for i, n in enumerate(gm.graph.nodes)}
        self.inputs = {n.name: [i.name for i in n.all_input_nodes if i.op.startswith("call")] for n in gm.graph.nodes}
        self.statements = Statements()
        with contextlib.suppress(Exception):
            from torch._inductor.codegen.cpp import CppScheduling
            real = CppScheduling.define_kernel

            def define_kernel(scheduling, code, nodes, *a, **k):
                name = real(scheduling, code, nodes, *a, **k)
                with contextlib.suppress(Exception):
                    self.sources.setdefault(name, (code, origins(nodes)))
                    self.entered.setdefault(name, []).append(origins(nodes))
                return name

            CppScheduling.define_kernel = define_kernel

    def blame(self, result, e):
        """Adds to an outcome which calls the failing kernel stands for."""
        with contextlib.suppress(Exception):
            guilty, outer, e = set(), e, innermost(e)
            command = re.search(r"(\S+\.cpp)\b", str(e)) if type(e).__name__ == "CppCompileError" else None
            written = open(command.group(1)).read() if command else ""
            called = " ".join(f.line or "" for x in (outer, e) for f in traceback.extract_tb(x.__traceback__) if f.filename.endswith(".py"))
            name = self.named(written) or next((n for n in self.sources if re.search(r"\b%s\b" % re.escape(n), called)), None)
            if name:
                guilty |= self.sources[name][1]
            self.add(result, guilty)
            at = re.search(re.escape(command.group(1)) + r":(\d+):(?:\d+:)? error", str(e)) if written else None
            if at:
                told(result, "suspects", [self.names[n] for n in self.statements.behind(written.split("\n"), int(at.group(1)) - 1) if n in guilty and n in self.names])
        return result

    def named(self, source):
        """The kernel that a C++ source holds: of those that are alike, the first; None for none of them."""
        for name, (code, _) in self.sources.items():
            body = code.partition("{")[2].rpartition("}")[0].strip()
            if body and body in source:
                return name
        return None

    def called(self, nodes):
        """The repro's calls that nodes of the graph stand for, in its order."""
        return [self.names[n] for n in sorted(nodes, key=lambda n: self.order.get(n, 0)) if n in self.names]

    def add(self, result, guilty):
        told(result, "region", self.called(guilty))

    def part(self, result, gm, compiled, args, job, outputs=None):
        """Adds to an outcome the calls at which a compiled graph parts from eager. outputs are the positions of the results that are wrong, if it is known."""
        import torch
        from torch._dynamo import config
        from torch._dynamo.debug_utils import cast_to_fp64
        from torch._dynamo.utils import same
        eager, double, noise = intermediates(gm, clones(args)), {}, noisy_intermediates(gm, args, job)
        with contextlib.suppress(Exception):
            model, inputs = cast_to_fp64(copy.deepcopy(gm), clones(args))
            double = intermediates(model, inputs)

        def alike(name, value):
            if name in noise:
                return name not in eager or not far(eager[name], value, noise[name])
            return name not in eager or same(eager[name], value, double.get(name), tol=job.get("tolerance") or config.repro_tolerance, equal_nan=True)

        torch.manual_seed(0)
        guilty = self.diverged(lambda: compiled(clones(args)), gm, alike, outputs)
        with contextlib.suppress(Exception):  # it only says more closely where
            guilty = self.tapped(gm, guilty, args, eager, alike) or guilty
        self.add(result, guilty)

    def tapped(self, gm, guilty, args, eager, alike):
        """Which of the guilty calls are: they are compiled alone, on eager's values, with their own values among the results. Of few each is a result;
        where that hides the fault, as what is a result may be fused otherwise, and of many at first, every sixteenth. None where all are right: the
        fault needs what is outside of them."""
        found = None
        for every in (1, SPARSE) if len(guilty) <= CLOSE else (SPARSE, 1):
            nodes = [n for n in gm.graph.nodes if n.name in guilty]
            if len(nodes) <= FEW:
                break
            taps = [n for n in nodes if n.name in eager][::-1][::every][::-1]  # the last one is what was seen to be wrong
            wrong = next((n for n, v in zip(taps, self.compiled_part(gm, nodes, taps, args, eager)) if not alike(n.name, v)), None)
            if wrong is not None:
                guilty = found = self.around(wrong, guilty, {n.name for n in taps})
            if (wrong is not None) == (every == 1):  # it is known as closely as it can be, or nothing is wrong even where nothing hides it
                break
        return found

    def compiled_part(self, gm, nodes, taps, args, eager):
        """The values of taps, when nodes are compiled alone."""
        import torch
        from torch._inductor.compile_fx import compile_fx_inner
        from torch.fx.experimental.proxy_tensor import make_fx
        given = dict(zip((n.name for n in gm.graph.nodes if n.op == "placeholder"), clones(args)))
        graph, copies, values = torch.fx.Graph(), {}, []
        for n in nodes:
            for i in n.all_input_nodes:
                if i not in copies and i not in nodes:
                    values.append(given[i.name] if i.op == "placeholder" else eager[i.name].clone())  # a KeyError for what is no tensor
                    copies[i] = graph.placeholder(i.name)
        for n in nodes:
            copies[n] = graph.node_copy(n, copies.__getitem__)
        graph.output(tuple(copies[n] for n in taps))
        with torch.no_grad():
            part = make_fx(torch.fx.GraphModule(gm, graph))(*clones(values))
            torch.manual_seed(0)
            return compile_fx_inner(part, values)(clones(values))

    def around(self, wrong, guilty, right):
        """A wrong call, and those of the guilty that it may have been fused with: what it was computed from up to what is right, and a little
        further, as a result may be right and what is computed from it in the same kernel not."""
        near, todo = {wrong.name: HOPS}, [wrong]  # by name: how many right ones may still be passed from there on
        while todo:
            n = todo.pop(0)
            for m in n.all_input_nodes:
                left = near[n.name] - (m.name in right)
                if m.name in guilty and left > near.get(m.name, -1):
                    near[m.name] = left
                    todo.append(m)
        return set(near)

    def diverged(self, run, gm, same, outputs=None):
        """The calls that lie between the buffers that are still right and the first for which same(node name, value) is false, or the wrong outputs."""
        import torch
        from torch._inductor.hooks import intermediate_hook
        right, wrong = set(), []

        def look(name, value):
            if not wrong:
                right.add(name) if same(name, value) else wrong.append(name)

        with intermediate_hook(look):
            run()
        nodes = {n.name: n for n in gm.graph.nodes}
        # No buffer is wrong: what makes the outputs from them is.
        results = torch.utils._pytree.tree_leaves(gm.graph.output_node().args[0])
        results = [results[i] for i in outputs or range(len(results)) if isinstance(results[i], torch.fx.Node)]
        todo = [nodes[name] for name in wrong if name in nodes] or list(dict.fromkeys(results))
        guilty = set()
        while todo and len(guilty) < 64:
            n = todo.pop(0)
            if n.op == "call_function" and n.name not in guilty and n.name not in right:
                guilty.add(n.name)
                todo.extend(n.all_input_nodes)
        return guilty


def origins(nodes):
    """The names of the graph's nodes that those of Inductor's scheduler were made from."""
    return {o.name for n in nodes for o in (n.node.get_origins() if hasattr(n.node, "get_origins") else n.node.origins)}


class Statements:
    """Which node each statement of the generated C++ comes from. A fused kernel is one chain of closures; each knows under which node it was
    made, and this follows them through Inductor's own little graph of a loop to the text."""

    def __init__(self):
        self.within = []  # nodes whose closures are under way
        self.origin = {}  # by statement
        with contextlib.suppress(Exception):
            self.watch()

    def watch(self):
        from torch._inductor import ir, loop_body
        from torch._inductor.codegen.common import CSE
        from torch._inductor.virtualized import V
        from torch.fx.proxy import TracerBase
        made, run_node = ir.Loops.__post_init__, loop_body.InterpreterShim.run_node
        create_node, generate = TracerBase.create_node, CSE.generate

        def loops(loops):
            made(loops)
            node = getattr(V.graph, "current_node", None)
            if node is not None:
                object.__setattr__(loops, "inner_fn", self.under(node.name, loops.inner_fn))

        def traced(tracer, *a, **k):
            node = create_node(tracer, *a, **k)
            if self.within:
                node.meta["statement"] = self.within[-1]
            return node

        def interpreted(shim, node):
            name = node.meta.get("statement")
            return self.under(name, run_node)(shim, node) if name else run_node(shim, node)

        def written(cse, buffer, expr, *a, **k):
            var = generate(cse, buffer, expr, *a, **k)
            if self.within:
                self.origin.setdefault("%s = %s" % (var, getattr(expr, "line", expr)), self.within[-1])
            return var

        ir.Loops.__post_init__, loop_body.InterpreterShim.run_node = loops, interpreted
        TracerBase.create_node, CSE.generate = traced, written

    def under(self, name, f):
        @functools.wraps(f)
        def inner(*a, **k):
            self.within.append(name)
            try:
                return f(*a, **k)
            finally:
                self.within.pop()
        return inner

    def behind(self, lines, i):
        """The node of line i; where the line is no statement of its own (a store), those of the variables in it."""
        def of(line):
            found = re.search(r"\b(\w+ = .*);", line)
            return self.origin.get(found.group(1)) if found else None
        if of(lines[i]):
            return [of(lines[i])]
        nodes = []
        for name in re.findall(r"\btmp\w*", lines[i]):
            for line in reversed(lines[:i]):
                if re.search(r"\b%s = " % name, line):
                    nodes += [of(line)] if of(line) else []
                    break
        return nodes


class Graphs:
    """The graphs that Inductor gets for an after-dynamo graph, and which of its calls each of their nodes comes from."""

    def __init__(self, job):
        self.job, self.lines, self.last = job, forward_lines(job["text"]), []
        self.watch = None  # marks.Watch, where there is one
        self.uncompiled = False  # run these graphs as they are

    def compile(self, gm, inputs):
        import torch
        from torch._inductor.compile_fx import compile_fx, compile_fx_inner

        def inner(gm, inputs, **options):
            eager = twin(gm)
            mine = [eager, None, None, None]
            if self.job.get("locate"):
                mine[1] = Kernels(gm, self.names(gm))
                if self.watch is not None:
                    self.watch.begin(mine[1])
            self.last.append(mine)
            compiled = compile_fx_inner(gm, inputs, **options)

            def run(real):
                if self.uncompiled:
                    args = list(real)
                    real.clear()
                    with torch.no_grad():
                        return list(eager(*args))
                if mine[2] is None and mine[1] is not None:
                    mine[2], mine[3] = compiled, clones(real)
                return compiled(real)
            run._boxed_call = True
            return run
        return compile_fx(gm, inputs, inner_compile=inner)

    def place(self, differs):
        """Where a wrong result is made. Graphs after aot that give it without being compiled got it from what made them; what happens to
        them later, if anything, is another failure. "" where they cannot tell."""
        if not self.last:
            return ""
        self.uncompiled = True
        try:
            return "above the graph after aot" if differs() else "below the graph after aot"
        except Exception as e:
            print("whittle: the graph after aot does not run by itself:", describe(e))
            return ""
        finally:
            self.uncompiled = False

    def names(self, gm):
        found = {}
        for n in gm.graph.nodes:
            line = line_in_repro(n)
            if line in self.lines:
                found[n.name] = self.lines[line]
        return found

    def blame(self, result, e):
        """Adds the calls that an exception's text speaks of, and those of the failing kernel."""
        for line in re.findall(r'File "repro.py", line (\d+), in forward', "".join(traceback.format_exception(e))):
            told(result, "suspects", [self.lines[int(line)]] if int(line) in self.lines else [])
        for _, kernels, _, _ in self.last:
            if kernels is not None:
                kernels.blame(result, e)
        return result

    def part(self, result, *_):
        import torch
        with torch.no_grad():
            for gm, kernels, compiled, args in self.last:
                if compiled is not None:
                    kernels.part(result, gm, compiled, args, self.job)

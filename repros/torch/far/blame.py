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


FEW, CLOSE, SPARSE, HOPS, DEPTH = 4, 40, 16, 2, 3  # calls that are soon asked about one by one; see tapped; edges before a wrong call; see cones


class Kernels:
    """Which calls of the repro's text each generated kernel stands for. It looks on while Inductor works."""

    def __init__(self, gm, names):
        self.sources = {}  # by name: the code, and the names of the nodes that it came from
        self.entered = {}  # by name: the names of the nodes that each call of it stands for, in order; layers that are alike share their kernels
        self.names = names
        self.order = {n.name: i for i, n in enumerate(gm.graph.nodes)}
        self.inputs = {n.name: [i.name for i in n.all_input_nodes if i.op.startswith("call")] for n in gm.graph.nodes}
        self.statements = Statements()
        self.beside = {}  # by the name of a node whose value a C++ kernel writes: the nodes that this kernel stands for
        with contextlib.suppress(Exception):
            self.show_buffers()
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

    def show_buffers(self):
        """Has the generated code show what C++ kernels write, and calls that have a place for their result, as Inductor's own code does with what others
        give. A buffer that is no node's value as it is remains unseen."""
        from torch._inductor import config, ir
        from torch._inductor.codegen.cpp import KernelGroup
        group_call, out_call = KernelGroup.call_kernel, ir.ExternKernelOut.codegen

        def show(wrapper, buffer):
            """The name of the node whose value a buffer is, where it is shown."""
            with contextlib.suppress(Exception):
                node = buffer.get_origin_node()
                if config.generate_intermediate_hooks and wrapper.supports_intermediate_hooks and list(map(int, buffer.get_size())) == list(node.meta["val"].shape):
                    wrapper.writeline("run_intermediate_hooks(%r, %s)" % (node.name, buffer.get_name()))
                    return node.name

        def call_kernel(group, wrapper, *a, **k):
            group_call(group, wrapper, *a, **k)
            live = group.args.live_output_buffers()
            for n in group.scheduled_nodes:
                if n.node.get_name() in live:
                    self.beside[show(wrapper, n.node)] = origin_nodes(group.scheduled_nodes)  # None for all that are not shown

        def codegen(buffer, wrapper):
            out_call(buffer, wrapper)
            show(wrapper, buffer)

        KernelGroup.call_kernel, ir.ExternKernelOut.codegen = call_kernel, codegen

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
        guilty, beside = self.diverged(lambda: compiled(clones(args)), gm, alike, outputs)
        with contextlib.suppress(Exception):  # it only says more closely where
            guilty = self.tapped(gm, guilty, args, eager, alike) or guilty | beside
        self.add(result, guilty)
        if len(guilty) == 1:
            told(result, "suspects", self.called(guilty))

    def tapped(self, gm, guilty, args, eager, alike):
        """Which of the guilty calls are: they are compiled alone, on eager's values, with their own values among the results. Of few each is a result;
        where that hides the fault, as what is a result may be fused otherwise, each is one with the few before it (cone). Of many every
        sixteenth is at first. None where all are right: the fault needs what is outside of them."""
        known = len(guilty) <= FEW
        nodes = [n for n in gm.graph.nodes if n.name in guilty and n.name in eager]
        if len(guilty) > CLOSE:
            taps = nodes[::-1][::SPARSE][::-1]  # the last one is what was seen to be wrong
            wrong = self.first_wrong(gm, [(taps, guilty)], args, eager, alike)
            if wrong is None:
                return None
            known, guilty = True, self.around(wrong, guilty, {n.name for n in taps})
            nodes = [n for n in nodes if n.name in guilty]
        if FEW < len(guilty) <= CLOSE:
            wrong = self.first_wrong(gm, [(nodes, guilty)], args, eager, alike)
            if wrong is not None:
                return self.around(wrong, guilty, {n.name for n in nodes})
            wrong = self.first_wrong(gm, [([n], self.cone(n, guilty)) for n in nodes], args, eager, alike)
            if wrong is not None:
                return self.cone(wrong, guilty)
        return guilty if known else None

    def first_wrong(self, gm, parts, args, eager, alike):
        """The first wrong one of the taps, when parts are compiled together, each alone on eager's values. A part is its taps and the names of its calls."""
        taps = [n for part, _ in parts for n in part]
        return next((n for n, v in zip(taps, self.compiled_parts(gm, parts, args, eager)) if not alike(n.name, v)), None)

    def compiled_parts(self, gm, parts, args, eager):
        import torch
        from torch._inductor.compile_fx import compile_fx_inner
        from torch.fx.experimental.proxy_tensor import make_fx
        given = dict(zip((n.name for n in gm.graph.nodes if n.op == "placeholder"), clones(args)))
        graph, inputs, values, results = torch.fx.Graph(), {}, [], []
        calls = [(taps, [n for n in gm.graph.nodes if n.name in names]) for taps, names in parts]
        for i in dict.fromkeys(i for _, nodes in calls for n in nodes for i in n.all_input_nodes if i not in nodes):
            values.append(given[i.name] if i.op == "placeholder" else eager[i.name].clone())  # a KeyError for what is no tensor
            inputs[i] = graph.placeholder(i.name)
        for taps, nodes in calls:
            copies = dict(inputs)
            for n in nodes:
                copies[n] = graph.node_copy(n, copies.__getitem__)
            results += [copies[n] for n in taps]
        graph.output(tuple(results))
        with torch.no_grad():
            part = make_fx(torch.fx.GraphModule(gm, graph))(*clones(values))
            torch.manual_seed(0)
            return compile_fx_inner(part, values)(clones(values))

    def cone(self, last, guilty):
        """The names of a call and of those of the guilty that it is computed from, up to DEPTH edges away."""
        names, edge = {last.name}, [last]
        for _ in range(DEPTH):
            edge = [m for n in edge for m in n.all_input_nodes if m.name in guilty and m.name not in names]
            names |= {m.name for m in edge}
        return names

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
        """The calls that lie between the buffers that are still right and the first for which same(node name, value) is false, or the wrong outputs; and
        what else the kernel stands for that writes it."""
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
        # Inductor makes other calls of those that write to an input.
        kernel = [o for name in wrong for o in self.beside.get(name, ())]
        also = {(o.target, writes(o)) for o in kernel if o.name not in nodes} if kernel else set()
        return guilty, {o.name for o in kernel if o.name in nodes} | {n.name for n in gm.graph.nodes if n.op == "call_function" and (n.target, writes(n)) in also}


def origins(nodes):
    """The names of the graph's nodes that those of Inductor's scheduler were made from."""
    return {o.name for o in origin_nodes(nodes)}


def origin_nodes(nodes):
    return {o for n in nodes for o in (n.node.get_origins() if hasattr(n.node, "get_origins") else n.node.origins)}


def writes(node):
    """The input of the graph that a call's first argument is, or is a view of."""
    while node.args and getattr(node.args[0], "op", "") != "placeholder":
        node = node.args[0]
        if not hasattr(node, "args"):
            return None
    return node.args[0].name if node.args else None


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
        self.compiles = lambda begins: None  # told when one begins to be compiled, and when it has been: backwards are as late as they run

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
            self.compiles(True)
            try:
                compiled = compile_fx_inner(gm, inputs, **options)
            finally:
                self.compiles(False)

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

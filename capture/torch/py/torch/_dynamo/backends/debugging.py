"""A backend that keeps what explain() tells, in front of another."""
from torch._dynamo.eval_frame import ExplainOutput


class ExplainWithBackend:
    def __init__(self, backend):
        from torch._dynamo.backends.registry import lookup_backend

        self.backend = lookup_backend(backend)
        self.graphs, self.op_count, self.break_reasons = [], 0, []

    def __call__(self, gm, example_inputs):
        self.graphs.append(gm)
        self.op_count += sum(n.op == "call_function" for n in gm.graph.nodes)
        if gm.compile_subgraph_reason.graph_break:
            self.break_reasons.append(gm.compile_subgraph_reason)
        return self.backend(gm, example_inputs)

    def output(self):
        n = len(self.graphs)
        return ExplainOutput(self.graphs, n, n - 1, self.break_reasons, self.op_count)

"""From a job to what the text of its repro defines, and to the inputs."""
import ast
import linecache
import re

from .draws import names_draw
from .values import derive, held


def run_text(job):
    """The names that the repro's text defines; its main part is left out. A setting that this torch does not know is a note."""
    text, ns = job["text"], {"__name__": "whittle_repro"}
    tree = ast.parse(text)
    linecache.cache["repro.py"] = (len(text), None, text.splitlines(True), "repro.py")
    if job.get("hold"):
        hold_values(tree)
    for statement in tree.body:
        source = ast.unparse(statement) if isinstance(statement, ast.Assign) else ""
        code = compile(ast.fix_missing_locations(ast.Module([statement], [])), "repro.py", "exec")
        try:
            exec(code, ns)
        except AttributeError as e:
            if not re.match(r"torch\.\S*config\.\S+ = ", source):
                raise
            print("whittle: setting left out: %s (%s)" % (source, e))
    if "mod" not in ns:
        ns["mod"] = ns["Repro"]()
    return ns


def reader(server, job):
    """PyTorch's own reader of inputs, with the storages that the engine holds."""
    from torch._dynamo.debug_utils import InputReader

    class Reader(InputReader):
        def storage(self, storage_hash, nbytes, *, device=None, dtype_hint=None):
            derived = (job.get("derived") or {}).get(storage_hash)
            if derived is not None:
                return derive(server, derived).untyped_storage()
            if storage_hash is not None:
                return held(server, storage_hash)
            return super().storage(None, nbytes, device=device, dtype_hint=dtype_hint)

        def const(self, name):
            self.args.append(None)

    import logging
    logging.getLogger("torch._dynamo.debug_utils").setLevel(logging.ERROR)
    return Reader(None)


def arguments(server, ns, job):
    import torch
    torch.manual_seed(0)  # inputs without data are random, and have to be the same each time
    r = reader(server, job)
    ns["load_args"](r)
    return r.args


def hold_values(tree):
    """Rewrites forward so that every value that gets a name is handed to __hold__."""
    for c in tree.body:
        if not (isinstance(c, ast.ClassDef) and c.name == "Repro"):
            continue
        for f in c.body:
            if isinstance(f, ast.FunctionDef) and f.name == "forward":
                body = [held_call(a.arg) for a in f.args.args[1:]]
                for s in f.body:
                    body.append(s)
                    if isinstance(s, (ast.Assign, ast.AnnAssign)):
                        for t in (s.targets if isinstance(s, ast.Assign) else [s.target]):
                            if isinstance(t, ast.Name) and not (isinstance(s.value, ast.Constant) and s.value.value is None):
                                body.append(held_call(t.id))
                f.body = body


def held_call(name):
    return ast.Expr(ast.Call(ast.Name("__hold__", ast.Load()), [ast.Constant(name), ast.Name(name, ast.Load())], []))


def draws(text):
    """Whether a repro may draw random numbers, by the names in it."""
    return names_draw(re.findall(r"\w+", text))


def settle(job):
    """What a query may set, and a fresh process has otherwise."""
    import torch
    torch.set_num_threads(job.get("threads") or 1)
    torch._inductor.config.compile_threads = job.get("compile_threads") or 1
    torch._inductor.config.fx_graph_cache = False

import torch

print(torch.Tag.core, repr(torch.Tag.pointwise), torch.Tag.view_copy == 12, list(torch.Tag.__members__))
for op in (torch.ops.aten.add.Tensor, torch.ops.aten.item.default, torch.ops.aten.nonzero.default, torch.ops.aten.t_.default, torch.ops.aten.bernoulli.default,
           torch.ops.aten.expand_copy.default, torch.ops.aten.matmul.default):
    print(op, op.tags)

with torch.library._scoped_library("tagged", "FRAGMENT") as lib:
    torch.library.define("tagged::one", "(Tensor x) -> Tensor", lib=lib)
    torch.library.define("tagged::two.tensor", "(Tensor x) -> Tensor", lib=lib, tags=torch.Tag.pt2_compliant_tag)
    torch.library.define("tagged::two.int", "(Tensor x, int n) -> Tensor", lib=lib, tags=(torch.Tag.pointwise, torch.Tag.core))
    print(torch.ops.tagged.one.default.tags, torch.ops.tagged.two.tensor.tags, torch.ops.tagged.two.int.tags)
    for name in ("one", "two.tensor", "two.int"):
        torch.library.impl("tagged::" + name, "CompositeImplicitAutograd", torch.sin if name != "two.int" else torch.sum, lib=lib)

    def run(name, f, **config):
        torch._dynamo.reset()
        try:
            with torch._dynamo.config.patch(**config):
                print(name, torch.compile(f, backend="eager", fullgraph=True)(torch.zeros(2)))
        except torch._dynamo.exc.Unsupported as e:
            print(name, str(e).split("\n")[0])

    for name, f in {"packet": lambda x: torch.ops.tagged.one(x), "overload": lambda x: torch.ops.tagged.one.default(x), "compliant": lambda x: torch.ops.tagged.two(x),
                    "resolved": lambda x: torch.ops.tagged.two(x, 0)}.items():
        run(name, f, only_allow_pt2_compliant_ops=True)
        run(name, f)


@torch.library.custom_op("tagged::three", mutates_args=())
def three(x: torch.Tensor) -> torch.Tensor:
    return x + 3


print(torch.ops.tagged.three.default.tags)

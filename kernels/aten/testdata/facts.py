# Writes facts.tsv: what PyTorch 2.6 says of its operators. A line has the overload; letters (R: tagged nondeterministic_seeded, I: impure to
# fx, V: a view); the arguments that it writes to; and results that alias arguments, result=argument, where neither is a list. Overloads of
# which none of this is true have no line. Run it as: python3 facts.py > facts.tsv
import torch
import torch.fx
import torch._inductor.inductor_prims

for s in sorted(torch._C._jit_get_all_schemas(), key=lambda s: (s.name, s.overload_name)):
    space, name = s.name.split("::")
    if space not in ("aten", "prims"):
        continue
    try:
        op = getattr(getattr(getattr(torch.ops, space), name), s.overload_name or "default")
    except (AttributeError, RuntimeError):
        continue  # TorchScript's own
    letters = "R" * (torch.Tag.nondeterministic_seeded in op.tags)
    letters += "I" * torch.fx.Graph().call_function(op).is_impure() + "V" * op.is_view
    writes = [a.name for a in s.arguments if a.alias_info is not None and a.alias_info.is_write]
    aliases = []
    for k, r in enumerate(s.returns):
        for a in s.arguments:
            if r.alias_info is not None and a.alias_info is not None and r.alias_info.before_set & a.alias_info.before_set:
                aliases.append(f"{k}={a.name}")
    if letters or writes or aliases:
        full = s.name + ("." + s.overload_name if s.overload_name else "")
        print("\t".join([full, letters or "-", ",".join(writes) or "-", ",".join(aliases) or "-"]))

import torch

src = '''
def f(x):
    """</script><script>alert(1)</script>"""
    y = x + 1
    print("</script><img src=x onerror=alert(2)> <!-- ]]>")
    return y * 2
'''
ns = {"torch": torch}
exec(compile(src, "</script><b>\x1b[32mname\x1b[0m.py", "exec"), ns)
f = ns["f"]
f.__code__ = f.__code__.replace(co_name="<img src=x onerror=alert(1)>\x1b[31mred\u202e")
torch.compile(f, backend="eager")(torch.ones(3))

def hostile(gm, inputs):
    raise RuntimeError("</style></script><svg onload=alert(3)>\x1b]0;title\x07 \u2028 {{.}} ${x} `y`")

try:
    torch.compile(lambda x: x * 2, backend=hostile)(torch.ones(2))
except Exception as e:
    print(type(e).__name__)

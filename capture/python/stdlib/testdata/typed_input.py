# compile() of what a person is typing: the mode "single", and the flags that codeop sets for a text that may go on.
for src,fl in [("x=1\ny=2\n",0),("def f():",0x4200),("def f():\n  return 1",0x4200),("def f():\n  return 1\n",0x4200),("(1,",0x4200),("'''a",0x4200),("x = ",0x4200),("a b",0x4200),("a b\n",0x4200),("if 1:\n pass\nx=2",0),("try:\n  pass\n",0x4200),("@d",0x4200),("'abc",0x4200),("'abc\n",0x4200),("for x in",0x4200),("if 1: pass",0x4200),("if 1: pass",0),("if 1: pass\n",0),("x=1 # c\n# d\n",0),("x=1;y=2",0), ("class A:\n  def f(s):\n    pass\n\n", 0x4200), ("def f():\n  return 1",0), ("match x:",0x4200),("1+",0),("else:",0x4200),("  x",0x4200),("lambda x:",0x4200), ("f(a b",0x4200),("f(a for",0x4200),("x = [1,\n2",0x4200),("x = [1,\n2\n",0x4200),("try:\n  pass\nexcept A:\n  pass",0x4200),("if x:\n  y\nelse:",0x4200),("async def f():",0x4200),("# c",0x4200),("a = 'x' 'y",0x4200),("f'{x",0x4200),("x = (yield)",0x4200),("return",0x4200),("a.",0x4200),("a[1:",0x4200),("from x import (a,",0x4200),("import",0x4200),("def f(",0x4200), ("def f(x) return",0x4200),("x y z",0x4200),("1 +\n",0x4200),("if 1:\n\n",0x4200)]:
  for mode in "single","exec":
    try: compile(src,"f",mode,fl); print(mode,repr(src),hex(fl),"ok")
    except SyntaxError as e: print(mode,repr(src),hex(fl),type(e).__name__, e.msg,(e.lineno,e.offset,e.text,e.end_lineno,e.end_offset))

import codeop, code
c = codeop.CommandCompiler()
for text in ["x = 1", "if x:", "if x:\n    y = 2", "if x:\n    y = 2\n", "(", ")", "", "# only a comment", "def f():\n    '''\n    a", "1 +", "class A: pass", "@d\ndef f(): pass\n"]:
    try:
        print(repr(text), "complete" if c(text) else "goes on")
    except SyntaxError as e:
        print(repr(text), type(e).__name__, e)

lines = iter(["def f(n):", "    return n + 1", "", "f(1)", "x", "for i in range(2):", "    i", "", "_"])

class Console(code.InteractiveConsole):
    def raw_input(self, prompt=""):
        try:
            line = next(lines)
        except StopIteration:
            raise EOFError
        print(prompt + line)
        return line

    def write(self, data):
        print("err:", data, end="")

Console({}).interact("hello", "bye")
for level in 0, 1, 2:
    ns = {}
    exec(compile("'module'\ndef f():\n    'function'\n    assert False, 'asserted'\n    return __debug__\nclass A:\n    'class'\n", "f", "exec", optimize=level), ns)
    try:
        print(level, ns["f"](), end=" ")
    except AssertionError:
        print(level, "asserts", end=" ")
    print(ns.get("__doc__"), ns["f"].__doc__, ns["A"].__doc__)
try:
    compile("1", "f", "exec", optimize=3)
except ValueError as e:
    print(e)

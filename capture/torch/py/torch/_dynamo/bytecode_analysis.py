"""What can be said of instructions without running them: which are reached, which variables are still read, how deep the stack is."""
import dataclasses
import dis
from numbers import Real
from typing import Union

TERMINAL_OPCODES = {dis.opmap[n] for n in ("RETURN_VALUE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "RAISE_VARARGS", "RERAISE")}
JUMP_OPCODES = set(dis.hasjrel) | set(dis.hasjabs)
JUMP_OPNAMES = {dis.opname[o] for o in JUMP_OPCODES}
HASLOCAL, HASFREE = set(dis.haslocal), set(dis.hasfree)


def get_indexof(insts):
    """The place of each instruction."""
    return {inst: i for i, inst in enumerate(insts)}


def _successors(insts, indexof, i, handlers=True):
    inst = insts[i]
    if inst.opcode in JUMP_OPCODES and inst.target is not None:
        yield indexof[inst.target]
    if handlers and inst.exn_tab_entry is not None:
        yield indexof[inst.exn_tab_entry.target]
    if inst.opcode not in TERMINAL_OPCODES and i + 1 < len(insts):
        yield i + 1


def remove_dead_code(instructions):
    """The instructions that can be reached. Ranges of handlers shrink to what is left of them."""
    indexof, live, todo = get_indexof(instructions), set(), [0]
    while todo:
        i = todo.pop()
        if i not in live:
            live.add(i)
            todo.extend(_successors(instructions, indexof, i))
    order = sorted(live)
    for i in order:
        e = instructions[i].exn_tab_entry
        if e is None:
            continue
        inside = [j for j in order if indexof[e.start] <= j <= indexof[e.end]]
        e.start, e.end = instructions[inside[0]], instructions[inside[-1]]
    return [instructions[i] for i in order]


def remove_pointless_jumps(instructions):
    """The instructions without jumps to the next one."""
    pointless = {id(a) for a, b in zip(instructions, instructions[1:]) if a.opname in ("JUMP_ABSOLUTE", "JUMP_FORWARD") and a.target is b}
    targets = {id(i.target) for i in instructions if i.target is not None}
    return [i for i in instructions if id(i) not in pointless or id(i) in targets]


def propagate_line_nums(instructions):
    """Gives each instruction the line of the one before it, where it says none."""
    line = None
    for inst in instructions:
        if inst.starts_line is None:
            inst.starts_line = line
        else:
            line = inst.starts_line


def remove_extra_line_nums(instructions):
    """Takes the line from instructions that are in that of the one before them."""
    line = None
    for inst in instructions:
        if inst.starts_line is None:
            continue
        if inst.starts_line == line:
            inst.starts_line = None
        else:
            line = inst.starts_line


@dataclasses.dataclass
class ReadsWrites:
    reads: set
    writes: set
    visited: set


def livevars_analysis(instructions, instruction):
    """The names of the variables that are read from an instruction on before they are written."""
    indexof = get_indexof(instructions)
    live = [set() for _ in instructions]
    changed = True
    while changed:
        changed = False
        for i in range(len(instructions) - 1, -1, -1):
            inst = instructions[i]
            now = set()
            for s in _successors(instructions, indexof, i):
                now |= live[s]
            if inst.opcode in HASLOCAL or inst.opcode in HASFREE:
                if inst.opname == "MAKE_CELL" or "LOAD" in inst.opname or "DELETE" in inst.opname:
                    now.add(inst.argval)
                else:
                    now.discard(inst.argval)
            if now != live[i]:
                live[i], changed = now, True
    return live[indexof[instruction]]


@dataclasses.dataclass
class FixedPointBox:
    value: bool = True


@dataclasses.dataclass
class StackSize:
    """Bounds of the depth of the stack in front of an instruction."""

    low: Union[int, Real]
    high: Union[int, Real]
    fixed_point: FixedPointBox

    def zero(self):
        self.low = self.high = 0
        self.fixed_point.value = False

    def offset_of(self, other, n):
        before = (self.low, self.high)
        self.low, self.high = min(self.low, other.low + n), max(self.high, other.high + n)
        if before != (self.low, self.high):
            self.fixed_point.value = False

    def exn_tab_jump(self, depth):
        before = (self.low, self.high)
        self.low, self.high = min(self.low, depth), max(self.high, depth)
        if before != (self.low, self.high):
            self.fixed_point.value = False


def stacksize_analysis(instructions):
    """How deep the stack becomes."""
    fixed_point = FixedPointBox()
    sizes = {inst: StackSize(float("inf"), float("-inf"), fixed_point) for inst in instructions}
    sizes[instructions[0]].zero()
    deepest = 0
    for _ in range(100):
        fixed_point.value = True
        for inst, after in zip(instructions, [*instructions[1:], None]):
            size = sizes[inst]
            if size.high == float("-inf"):
                continue
            if inst.opcode not in TERMINAL_OPCODES and after is not None:
                effect = dis.stack_effect(inst.opcode, inst.arg if inst.opcode >= dis.HAVE_ARGUMENT else None, jump=False)
                sizes[after].offset_of(size, effect)
            if inst.opcode in JUMP_OPCODES:
                sizes[inst.target].offset_of(size, dis.stack_effect(inst.opcode, inst.arg, jump=True))
            e = inst.exn_tab_entry
            if e is not None:
                # The handler finds the exception, and below it the place where it was raised, if it asked for that.
                sizes[e.target].exn_tab_jump(e.depth + int(e.lasti) + 1)
        if fixed_point.value:
            break
    assert fixed_point.value, "failed to reach fixed point"
    for inst in instructions:
        if sizes[inst].high != float("-inf"):
            deepest = max(deepest, sizes[inst].high)
    return int(deepest)

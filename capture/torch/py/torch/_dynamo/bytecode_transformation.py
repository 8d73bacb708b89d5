"""Code objects as lists of instructions, which can be changed and put together again.

Instructions name what they work on and where they jump to; arguments, offsets, line and exception tables are computed when the code
is assembled. The code is CPython 3.11's.
"""
import copy
import dataclasses
import dis
import itertools
import types
from typing import Any, Optional

from torch._dynamo.bytecode_analysis import get_indexof, propagate_line_nums, stacksize_analysis


@dataclasses.dataclass
class InstructionExnTabEntry:
    """Where an exception that an instruction from start to end raises is handled."""

    start: "Instruction"
    end: "Instruction"
    target: "Instruction"
    depth: int
    lasti: bool

    def __repr__(self):
        return f"InstructionExnTabEntry(start={self.start.short_inst_repr()}, end={self.end.short_inst_repr()}, target={self.target.short_inst_repr()}, depth={self.depth}, lasti={self.lasti})"

    def __eq__(self, o):
        return isinstance(o, InstructionExnTabEntry) and (self.start, self.end, self.target, self.depth, self.lasti) == (o.start, o.end, o.target, o.depth, o.lasti)


@dataclasses.dataclass
class Instruction:
    """An instruction that can be changed. Two are the same only if they are one object."""

    opcode: int
    opname: str
    arg: Optional[int]
    argval: Any
    offset: Optional[int] = None
    starts_line: Optional[int] = None
    is_jump_target: bool = False
    positions: Optional["dis.Positions"] = None
    target: Optional["Instruction"] = None
    exn_tab_entry: Optional[InstructionExnTabEntry] = None
    argrepr: Optional[str] = None

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return id(self) == id(other)

    def short_inst_repr(self):
        return f"Instruction(opname={self.opname}, offset={self.offset})"


class _NotProvided:
    def __repr__(self):
        return "_NotProvided"


def convert_instruction(i):
    return Instruction(i.opcode, i.opname, i.arg, i.argval, i.offset, i.starts_line, i.is_jump_target, getattr(i, "positions", None))


def inst_has_op_bits(name):
    """Whether the lowest bits of an argument are flags."""
    return name == "LOAD_GLOBAL"


def create_instruction(name, *, arg=None, argval=_NotProvided, target=None):
    """An instruction of which one of argument, value and jump target is known; LOAD_GLOBAL's argument is its flag, beside the value."""
    if not inst_has_op_bits(name):
        given = (arg is not None) + (argval is not _NotProvided) + (target is not None)
        if given > 1:
            raise RuntimeError("only one of arg, argval, and target can be not None/_NotProvided")
    if arg is not None and not isinstance(arg, int):
        raise RuntimeError("instruction arg must be int or None")
    return Instruction(dis.opmap[name], name, arg, arg if argval is _NotProvided else argval, target=target)


def create_jump_absolute(target):
    return create_instruction("JUMP_FORWARD", target=target)


def create_load_const(val, checked=True):
    if checked and not (val is None or isinstance(val, (bool, int, float, complex, str, bytes, type(Ellipsis), types.CodeType, tuple, frozenset))):
        raise AssertionError(f"unsafe constant {val}")
    return create_instruction("LOAD_CONST", argval=val)


def create_dup_top():
    return create_instruction("COPY", arg=1)


def create_copy(i):
    return create_instruction("COPY", arg=i)


def create_swap(n):
    return [create_instruction("SWAP", arg=n)]


def create_rot_n(n):
    """Instructions that put the top of the stack below the n - 1 values under it."""
    return [create_instruction("SWAP", arg=i) for i in range(n, 1, -1)]


def add_push_null(inst_or_insts):
    """The instructions with the null in front that a call needs under its function; LOAD_GLOBAL brings it along."""
    insts = [inst_or_insts] if isinstance(inst_or_insts, Instruction) else list(inst_or_insts)
    if insts and insts[0].opname == "LOAD_GLOBAL" and insts[0].arg is not None and len(insts) == 1:
        insts[0].arg |= 1
        return insts
    return [create_instruction("PUSH_NULL")] + insts


def create_call_function(nargs, push_null):
    """Instructions that call what lies under nargs arguments; push_null says that the null has yet to be put under it."""
    out = []
    if push_null:
        out.append(create_instruction("PUSH_NULL"))
        out += create_rot_n(nargs + 2)
    return out + [create_instruction("PRECALL", arg=nargs), create_instruction("CALL", arg=nargs)]


def create_call_function_ex(has_kwargs, push_null):
    out = []
    if push_null:
        out.append(create_instruction("PUSH_NULL"))
        out += create_rot_n(3 + has_kwargs)
    return out + [create_instruction("CALL_FUNCTION_EX", arg=int(has_kwargs))]


def create_call_method(nargs):
    return [create_instruction("PRECALL", arg=nargs), create_instruction("CALL", arg=nargs)]


def create_load_method(name):
    return create_instruction("LOAD_METHOD", argval=name)


def create_setup_with(target):
    return create_instruction("BEFORE_WITH")


def create_print_on_stack(depth):
    """Instructions that print the value depth places from the top, which stays."""
    return [*add_push_null(create_instruction("LOAD_CONST", argval=print)), create_instruction("COPY", arg=depth + 2), *create_call_function(1, False),
            create_instruction("POP_TOP")]


# The exception table: numbers in groups of six bits, the highest first; each but the last has bit 6 set.


def encode_exception_table_varint(n):
    assert n >= 0
    groups = [n & 63]
    n >>= 6
    while n:
        groups.append(n & 63 | 64)
        n >>= 6
    return groups[::-1]


def decode_exception_table_varint(bytes_iter):
    b = next(bytes_iter)
    val = b & 63
    while b & 64:
        b = next(bytes_iter)
        val = val << 6 | b & 63
    return val


@dataclasses.dataclass
class ExceptionTableEntry:
    """A row of an exception table, in offsets; end is that of the last code unit."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


def check_exception_table(tab):
    """Rows have to be in order, and may not overlap."""
    for a, b in zip(tab, tab[1:]):
        assert a.start <= a.end and a.end < b.start


def parse_exception_table(exntab):
    rest, tab = iter(exntab), []
    while True:
        try:
            start = decode_exception_table_varint(rest) * 2
        except StopIteration:
            check_exception_table(tab)
            return tab
        length = decode_exception_table_varint(rest) * 2
        target = decode_exception_table_varint(rest) * 2
        dl = decode_exception_table_varint(rest)
        tab.append(ExceptionTableEntry(start, start + length - 2, target, dl >> 1, bool(dl & 1)))


def assemble_exception_table(tab):
    out = []
    for e in tab:
        first = encode_exception_table_varint(e.start // 2)
        first[0] |= 128  # a row begins
        out += first
        out += encode_exception_table_varint((e.end - e.start) // 2 + 1)
        out += encode_exception_table_varint(e.target // 2)
        out += encode_exception_table_varint(e.depth << 1 | int(e.lasti))
    return bytes(out)


def _ranges(instructions, indexof):
    """The entries of all instructions by the range that each is for, outer ranges before those inside of them."""
    ranges = {}
    for inst in instructions:
        e = inst.exn_tab_entry
        if e is not None:
            ranges.setdefault((indexof[e.start], indexof[e.end]), e)
    return sorted(ranges.items(), key=lambda r: (r[0][0], -r[0][1]))


def _innermost(instructions):
    """For each instruction the entry of the innermost range that it is in, or None."""
    indexof = get_indexof(instructions)
    found = [None] * len(instructions)
    for (start, end), e in _ranges(instructions, indexof):
        for i in range(start, end + 1):
            found[i] = e
    return found


def propagate_inst_exn_table_entries(instructions):
    """Gives each instruction of a range its entry; of ranges inside of each other the innermost counts."""
    for inst, e in zip(instructions, _innermost(instructions)):
        inst.exn_tab_entry = None if e is None else copy.copy(e)


def compute_exception_table(instructions):
    """The rows of the table, in offsets: ranges inside of others cut those up."""
    rows, last = [], None
    for inst, e in zip(instructions, _innermost(instructions)):
        if e is not None:
            end = inst.offset + instruction_size(inst) - 2
            if e is last:
                rows[-1].end = end
            else:
                rows.append(ExceptionTableEntry(inst.offset, end, _front(instructions, e.target).offset, e.depth, e.lasti))
        last = e
    check_exception_table(rows)
    return rows


def virtualize_exception_table(exn_tab_bytes, instructions):
    """Gives the instructions the entries of a table."""
    at, inside = {}, {}
    for inst in instructions:
        at[inst.offset] = inst
        for off in range(inst.offset, inst.offset + instruction_size(inst), 2):
            inside[off] = inst
    for row in parse_exception_table(exn_tab_bytes):
        e = InstructionExnTabEntry(at[row.start], inside[row.end], at[row.target], row.depth, row.lasti)
        for inst in instructions:
            if row.start <= inst.offset <= row.end:
                inst.exn_tab_entry = e


# Lines and columns.


def encode_varint(n):
    """Groups of six bits, the lowest first; each but the last has bit 6 set."""
    assert n >= 0
    out = [n & 63]
    n >>= 6
    while n:
        out[-1] |= 64
        out.append(n & 63)
        n >>= 6
    return out


def linetable_311_writer(first_lineno):
    """A table, and a function that adds the positions of an instruction to it."""
    table, line = [], first_lineno

    def signed(n):
        return encode_varint((-n << 1 | 1) if n < 0 else n << 1)

    def update(positions, inst_size):
        nonlocal line
        units = inst_size // 2
        while units > 0:
            n = min(units, 8)
            units -= n
            if positions is None or positions.lineno is None:
                table.append(0x80 | 15 << 3 | n - 1)
                continue
            delta = positions.lineno - line
            line = positions.lineno
            if positions.end_lineno is None or positions.col_offset is None or positions.end_col_offset is None:
                table.append(0x80 | 13 << 3 | n - 1)
                table.extend(signed(delta))
                continue
            table.append(0x80 | 14 << 3 | n - 1)
            table.extend(signed(delta))
            table.extend(encode_varint(positions.end_lineno - positions.lineno))
            table.extend(encode_varint(positions.col_offset + 1))
            table.extend(encode_varint(positions.end_col_offset + 1))

    return table, update


def instruction_size(inst):
    """Bytes, with those of its cache."""
    return 2 * (dis._inline_cache_entries[inst.opcode] + 1)


def update_offsets(instructions):
    offset = 0
    for inst in instructions:
        inst.offset = offset
        offset += instruction_size(inst)


def assemble(instructions, firstlineno):
    """The bytes of code, and of its line table."""
    code = []
    table, update = linetable_311_writer(firstlineno)
    line = None
    for inst in instructions:
        if inst.starts_line is not None:
            line = inst.starts_line
        positions = inst.positions
        if positions is None and line is not None:
            positions = dis.Positions(line, line, None, None)
        update(positions, instruction_size(inst))
        arg = inst.arg or 0
        code.extend((inst.opcode, arg & 0xFF))
        code.extend([0] * (instruction_size(inst) - 2))
    return bytes(code), bytes(table)


# Jumps.

_jumps = set(dis.hasjrel) | set(dis.hasjabs)


def virtualize_jumps(instructions):
    """Replaces the offsets that jumps go to by instructions."""
    targets = {inst.offset: inst for inst in instructions}
    for inst in instructions:
        if inst.opcode in _jumps:
            inst.target = targets[inst.argval]


def _front(instructions, inst, index=None):
    """The first of the prefixes of an instruction, itself if it has none: that is where jumps to it go."""
    i = instructions.index(inst) if index is None else index[inst]
    while i > 0 and instructions[i - 1].opcode == dis.EXTENDED_ARG:
        i -= 1
    return instructions[i]


def flip_jump_direction(instruction):
    if "FORWARD" in instruction.opname:
        name = instruction.opname.replace("FORWARD", "BACKWARD")
    elif "BACKWARD" in instruction.opname:
        name = instruction.opname.replace("_NO_INTERRUPT", "").replace("BACKWARD", "FORWARD")
    else:
        raise AttributeError("Instruction is not a forward or backward jump")
    instruction.opname, instruction.opcode = name, dis.opmap[name]


def devirtualize_jumps(instructions):
    """Gives jumps their arguments, and the direction that they have now."""
    index = get_indexof(instructions)
    for inst in instructions:
        if inst.opcode not in _jumps:
            continue
        target = _front(instructions, inst.target, index)
        forward = target.offset > inst.offset
        if forward and "BACKWARD" in inst.opname or not forward and "FORWARD" in inst.opname:
            flip_jump_direction(inst)
        # The direction is part of the name; the distance counts from behind the instruction and its cache.
        behind = inst.offset + instruction_size(inst)
        inst.arg = (target.offset - behind if forward else behind - target.offset) // 2
        inst.argval, inst.argrepr = target.offset, f"to {target.offset}"


def strip_extended_args(instructions):
    instructions[:] = [i for i in instructions if i.opcode != dis.EXTENDED_ARG]


def fix_extended_args(instructions):
    """Puts the prefixes in front of instructions that need them; gives how many instructions that changed the list by."""
    before = [i for i in instructions]
    out = []
    for inst in instructions:
        if inst.opcode == dis.EXTENDED_ARG:
            continue
        arg, prefixes = inst.arg or 0, []
        while arg > 0xFF:
            arg >>= 8
            p = create_instruction("EXTENDED_ARG", arg=arg & 0xFF)
            p.positions, p.starts_line, p.exn_tab_entry = inst.positions, inst.starts_line, inst.exn_tab_entry
            prefixes.insert(0, p)
        out += prefixes + [inst]
    instructions[:] = out
    return len(out) - len(before)


def overwrite_instruction(old_inst, new_insts):
    """Puts new instructions in the place of one; jumps to that go to the first of them, which is the old object."""
    first = new_insts[0]
    if old_inst.exn_tab_entry is not None:
        for i in new_insts:
            i.exn_tab_entry = old_inst.exn_tab_entry
    for i in new_insts:
        i.positions = i.positions or old_inst.positions
    old_inst.opcode, old_inst.opname, old_inst.arg, old_inst.argval, old_inst.target = first.opcode, first.opname, first.arg, first.argval, first.target
    return [old_inst] + new_insts[1:]


def remove_jump_if_none(instructions):
    """Replaces jumps that compare with None by comparisons and jumps."""
    out = []
    for inst in instructions:
        if "_NONE" not in inst.opname:
            out.append(inst)
            continue
        is_op = create_instruction("IS_OP", arg=int("NOT" in inst.opname))
        jump = create_instruction(inst.opname.partition("_IF_")[0] + "_IF_TRUE", target=inst.target)
        out += overwrite_instruction(inst, [create_instruction("LOAD_CONST", argval=None), is_op, jump])
    instructions[:] = out


# Names and constants.


def get_const_index(code_options, val):
    for i, v in enumerate(code_options["co_consts"]):
        # 0, False, 0.0 and -0.0 are equal, and are not one constant.
        if v is val or type(v) is type(val) and repr(v) == repr(val) and isinstance(v, (int, float, complex, str, bytes, tuple, frozenset, type(None))):
            return i
    code_options["co_consts"] += (val,)
    return len(code_options["co_consts"]) - 1


def fix_vars(instructions, code_options, varname_from_oparg=None):
    """Gives instructions the numbers of what they name. Names that are not there yet are added."""
    names = {n: i for i, n in enumerate(code_options["co_names"])}

    def name_index(n):
        return names.setdefault(n, len(names))

    varnames = {n: i for i, n in enumerate(code_options["co_varnames"])}
    cells = [n for n in code_options["co_cellvars"] if n not in varnames]
    deref = dict(varnames)
    for n in itertools.chain(cells, code_options["co_freevars"]):
        deref.setdefault(n, len(deref))
    for inst in instructions:
        if inst.opname == "LOAD_GLOBAL":
            assert inst.arg is not None, "LOAD_GLOBAL needs its flag for an argument"
            inst.arg = (name_index(inst.argval) << 1) + inst.arg % 2
        elif inst.opcode in dis.haslocal:
            if inst.arg is None or inst.argval in varnames:
                inst.arg = varnames[inst.argval]
        elif inst.opcode in dis.hasfree:
            inst.arg = deref[inst.argval]
        elif inst.opcode in dis.hasname:
            inst.arg = name_index(inst.argval)
        elif inst.opcode in dis.hasconst:
            if inst.arg is None or not _is_const_at(code_options["co_consts"], inst.arg, inst.argval):
                inst.arg = get_const_index(code_options, inst.argval)
        elif inst.opname == "KW_NAMES" and inst.arg is None:
            inst.arg = get_const_index(code_options, inst.argval)
    code_options["co_names"] = tuple(names)


def _is_const_at(consts, i, val):
    return 0 <= i < len(consts) and consts[i] is val


def get_code_keys():
    """The attributes of a code object, in the order in which its class takes them."""
    return ["co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_nlocals", "co_stacksize", "co_flags", "co_code", "co_consts", "co_names", "co_varnames",
            "co_filename", "co_name", "co_qualname", "co_firstlineno", "co_linetable", "co_exceptiontable", "co_freevars", "co_cellvars"]


def check_offsets(instructions):
    offset = 0
    for inst in instructions:
        assert inst.offset == offset
        offset += instruction_size(inst)


def check_inst_exn_tab_entries_nested(tab):
    for (s1, e1), _ in tab:
        for (s2, e2), _ in tab:
            assert not s1 < s2 <= e1 < e2


def check_inst_exn_tab_entries_valid(instructions):
    indexof = get_indexof(instructions)
    ranges = _ranges(instructions, indexof)
    check_inst_exn_tab_entries_nested(ranges)
    for _, e in ranges:
        assert e.target in indexof


def clean_and_assemble_instructions(instructions, keys, code_options):
    """The instructions with arguments and offsets, and the code object that they make."""
    code_options = dict(code_options)
    strip_extended_args(instructions)
    check_inst_exn_tab_entries_valid(instructions)
    fix_vars(instructions, code_options)
    while True:
        update_offsets(instructions)
        devirtualize_jumps(instructions)
        # Prefixes that jumps get move what they jump to.
        if not fix_extended_args(instructions):
            break
    update_offsets(instructions)
    devirtualize_jumps(instructions)
    code_options["co_code"], code_options["co_linetable"] = assemble(instructions, code_options["co_firstlineno"])
    code_options["co_exceptiontable"] = assemble_exception_table(compute_exception_table(instructions))
    code_options["co_nlocals"] = len(code_options["co_varnames"])
    code_options["co_stacksize"] = stacksize_analysis(instructions)
    return instructions, types.CodeType(*[code_options[k] for k in keys])


_unique = itertools.count()


def unique_id(name):
    return f"{name}_{next(_unique)}"


def is_generator(code):
    return (code.co_flags & 0x20) > 0


def populate_kw_names_argval(instructions, consts):
    for inst in instructions:
        if inst.opname == "KW_NAMES":
            inst.argval = consts[inst.arg]


def cleaned_instructions(code, safe=False):
    """The instructions of a code object without prefixes, jumps and ranges of handlers by instruction. safe leaves out what only
    analyses need."""
    instructions = list(map(convert_instruction, dis.get_instructions(code)))
    virtualize_jumps(instructions)
    virtualize_exception_table(code.co_exceptiontable, instructions)
    # A prefix is no target of its own: what it belongs to is.
    behind = {}
    for i in range(len(instructions) - 1, -1, -1):
        if instructions[i].opcode == dis.EXTENDED_ARG:
            behind[instructions[i]] = behind.get(instructions[i + 1], instructions[i + 1])
    for inst in instructions:
        inst.target = behind.get(inst.target, inst.target)
        e = inst.exn_tab_entry
        if e is not None:
            e.start, e.end, e.target = behind.get(e.start, e.start), behind.get(e.end, e.end), behind.get(e.target, e.target)
    strip_extended_args(instructions)
    populate_kw_names_argval(instructions, code.co_consts)
    if not safe:
        remove_jump_if_none(instructions)
        update_offsets(instructions)
        devirtualize_jumps(instructions)
    return instructions


def transform_code_object(code, transformations, safe=False):
    """A code object of which transformations(instructions, code_options) changed the instructions, in place."""
    keys = get_code_keys()
    code_options = {k: getattr(code, k) for k in keys}
    assert len(code_options["co_varnames"]) == code_options["co_nlocals"]
    instructions = cleaned_instructions(code, safe)
    propagate_line_nums(instructions)
    transformations(instructions, code_options)
    return clean_and_assemble_instructions(instructions, keys, code_options)[1]


def debug_checks(code):
    """Fails unless a code object comes out of its instructions as it went in, but for what the analyses replace."""
    before = [i for i in dis.get_instructions(code) if i.opcode != dis.EXTENDED_ARG]
    after = [i for i in dis.get_instructions(transform_code_object(code, lambda x, y: None, safe=True)) if i.opcode != dis.EXTENDED_ARG]
    assert [i.opcode for i in before] == [i.opcode for i in after]


_by_value = set(dis.haslocal) | set(dis.hasfree) | set(dis.hasname) | set(dis.hasconst)


def bytecode_from_template(fn, varname_map=None, noreturn=True, noprefix=True):
    """The instructions of a function, to be put into other code: its variables called as varname_map says, and, unless they are wanted,
    without returns, which become jumps to the end, and without what only functions begin with."""
    insts = cleaned_instructions(fn.__code__)
    prefix = ("RESUME", "COPY_FREE_VARS", "MAKE_CELL", "RETURN_GENERATOR")
    if noprefix:
        for i, inst in enumerate(insts):
            if inst.opname == "RESUME":
                insts = insts[i + 1:]
                break
    for inst in insts:
        inst.starts_line = inst.positions = None
        if inst.opcode in _by_value:
            if varname_map and isinstance(inst.argval, str) and inst.argval in varname_map and inst.opcode not in dis.hasconst:
                inst.argval = varname_map[inst.argval]
            inst.arg = inst.arg % 2 if inst.opname == "LOAD_GLOBAL" and inst.arg is not None else None
    if noreturn:
        end = create_instruction("NOP")
        last = len(insts) - 1
        if insts[last].opname == "RETURN_VALUE":
            end = insts[last]
        for inst in insts:
            if inst.opname == "RETURN_VALUE":
                if inst is end:
                    inst.opname, inst.opcode, inst.arg, inst.argval = "NOP", dis.opmap["NOP"], 0, None
                else:
                    inst.opname, inst.opcode, inst.target = "JUMP_FORWARD", dis.opmap["JUMP_FORWARD"], end
        if end is not insts[last]:
            insts.append(end)
    return insts

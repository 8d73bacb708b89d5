# What indices, data and arguments mean: a line for each call, with what it gives or the error that it raises. PyTorch 2.6 wrote calls.txt:
#
#     python3 calls.py > calls.txt
import torch


class Index:
    def __init__(self, i):
        self.i = i

    def __index__(self):
        return self.i


class Thing:
    pass


class Sub(list):
    pass


x = torch.arange(24).view(2, 3, 4)
v = torch.tensor([1.5, -2.0, 3.0])
one = torch.tensor(1)
z = torch.zeros(2, 3)
long = torch.tensor
true, false = torch.tensor(True), torch.tensor(False)
mask = torch.tensor([[True, False, True], [False, False, True]])
bytemask = torch.tensor([True, False]).to(torch.uint8)

READ = """
x[0] | x[-1] | x[1, 2] | x[1, -1, 3] | x[0][1][2] | x[one] | x[one, one] | x[Index(1)] | x[True] | x[False] | x[true] | x[false]
x[...] | x[..., 0] | x[0, ...] | x[0, ..., 1] | x[..., None] | x[None] | x[:, None, 0] | x[None, ..., None, 0] | x[()] | x[..., 1:, 2]
x[:] | x[1:] | x[:, ::2] | x[:, :, 1:3] | x[0:1, ..., -1] | x[-1:] | x[5:] | x[2:1] | x[slice(0, 1)] | x[one:] | x[:, Index(1):] | x[:, :one, 0]
x[[0, 1]] | x[[0, 1], [1, 2]] | x[[1, 0], :, [1, 2]] | x[:, [0, 2], [1, 3]] | x[(0, 1)] | x[[[0, 1], [1, 0]], 0] | x[0, [0, 1]] | x[[0], None] | x[range(2), 0, 0]
x[[True, False]] | x[[-1]] | x[[]] | x[torch.tensor([])] | x[[], 0] | x[Sub([0, 1]), 0, 0] | x[[one, 0], 0, 0] | x[[slice(1), 0]]
x[long([0, 1]), 0] | x[:, long([0, 2]), 0] | x[long([0, 1]), :, long([1, 3])] | x[long([[0, 1], [1, 0]]), 0, 0] | x[long([0, 1]), 1:, 0] | x[long([0, 1]).int(), 0, 0]
x[x > 20] | x[mask] | x[mask, 1] | x[0, mask[0]] | x[bytemask, 0] | x[:, mask[0], 0] | x[mask, None] | v[v > 0] | v[[0.5, 1]]
x[5] | x[-3] | x[0, 3] | x[0, 0, 0, 0] | x[0.5] | x['a'] | x[::-1] | x[::0] | x[one.float()] | x[1j] | x[Thing()] | x[{}] | x[..., 0, 0, 0, 0]
one[0] | one[...] | one[None] | one[()] | one[True] | one[:] | v[0.5:] | v['a':] | v[long([5])] | v[[0, 5]] | v[[-4]] | x[mask[:, :2]] | x[mask[0]] | v[long([0.5])] | x[['a']] | x[[[0, 1], [1]]]
x[mask, 1:] | x[mask, :] | x[..., 5] | x[None, 5] | x[0, ..., 7] | x[[0, 'a']] | x[[None, 'a']] | x[[0, [1]]] | x[0, ['a']] | one[0:1] | one[None, 0] | x[1:2:0] | x[:2**70] | x[-2**70:]
x[long([0, 1]), long([0, 1, 2])] | x[[0, 1], [0, 1, 2]] | x[None, None, 0, 0, 0] | x[Thing(), 0] | x[0, 'a'] | x[[Thing()]] | x[[None, 0]]
"""

WRITE = """
t[0] = 7 | t[0, 1] = one | t[...] = 2 | t[:, 1] = long([5, 6]) | t[t == 0] = 9 | t[[0, 1], [0, 2]] = long([3, 4]) | t[None] = 8 | t[True] = 1 | t[False] = 1 | t[0] = 2.7
t[0] = True | t[0] = one.float() | t[:, ::2] = long([[1], [2]]) | t[0] = long([[1, 2, 3]]) | t[Index(1)] = 4 | t[()] = 6 | t[mask] = long([1, 2, 3]) | t[mask] = 5 | t[true] = 3 | t[false] = 3
t[0] = long([1, 2]) | t[0] = [1, 2, 3] | t[0] = 'a' | t[0] = None | t[5] = 1 | t[0, 0, 0] = 1 | t[::-1] = 1 | t['a'] = 1 | t[0.5] = 1 | t[mask] = long([1, 2]) | t[[0, 5]] = 1 | t[0] = 1j | t[[0]] = 1j
t[[0]] = long(1.5) | t[[0]] = 2.5 | t[0] = long([1.5, 2.5, 3.5]) | t[0] = long([[[1, 2, 3]]]) | t[0] = long([[1, 2]]) | t[:] = long([1, 2]) | t[...] = torch.zeros(0) | t[0] = 1+0j | t[0] = (1, 2, 3) | t['a'] = 'b' | t[0] = 2**70
t[long([0, 1]), 0] = long([1., 2.]) | t[0] = long([[1, 2, 3], [4, 5, 6]]) | t[0] = Thing()
"""

DATA = """
[] | [[]] | [[], []] | 5 | 2.5 | True | 1j | [1, 2] | (1, 2) | [1, 2.5] | [True, 2] | [True, False] | [1, 2j] | [[1, 2], [3, 4]] | [(1, 2), [3, 4]] | range(3) | [range(2), [5, 6]] | Sub([1, 2])
[one, 2] | [one, 2.5] | [[one], [5]] | [v, v] | v | [v.double()[0], 1] | [true, 1] | [float('nan'), float('inf')] | [-0.0] | [Index(3)] | 2**40 | -2**63
[[1, 2], [3]] | [1, [2]] | [[1], 2] | [[[1]], [2]] | 'a' | ['a'] | [None] | None | Thing() | [Thing()] | {1, 2} | {} | b'a' | [1, 'a'] | [[1, 2], 'ab'] | 2**63 | [2**63] | [v, 1] | [1, v] | [z, v]
1, dtype=torch.float64 | 2.7, dtype=torch.int64 | [0, 2], dtype=torch.bool | 0.5, dtype=torch.bool | 300, dtype=torch.uint8 | -1, dtype=torch.uint8 | 1j, dtype=torch.float32 | 2, dtype=torch.complex64 | v, dtype=torch.int32 | 40000, dtype=torch.int16 | 1e300, dtype=torch.float32
[long([1]), 2] | [long([[1]])] | [[long([1]), 2]] | [v, v], dtype=torch.float64 | [[1, 2], v] | [long([1, 2]), 5] | [1.5, [2]] | [True, [True]] | [1, [2.5]] | [1, (2,)] | [1j, [2]] | [one.int()] | [one.int(), 2] | [one.half(), 2.5]
2**63, dtype=torch.float64 | [2**63, 1.5] | 2**63, dtype=torch.int32 | 2**63, dtype=torch.bool | 300, dtype=torch.int8 | -200, dtype=torch.int8 | 2**31, dtype=torch.int32 | -255, dtype=torch.uint8 | -256, dtype=torch.uint8
300.7, dtype=torch.uint8 | 1e30, dtype=torch.int64 | float('nan'), dtype=torch.int64 | float('inf'), dtype=torch.int32 | 1j, dtype=torch.int64 | 1j, dtype=torch.bool | 1+0j, dtype=torch.float32 | 1e300, dtype=torch.float16
'a', dtype=torch.float32 | ['a'], dtype=torch.float32 | [1, 'a'], dtype=torch.float32 | [1, None], dtype=torch.float32 | [1, None] | [None, 1], dtype=torch.int64 | None, dtype=torch.float32 | {1: 2}, dtype=torch.float32 | [1, 2.7], dtype=torch.int64 | [v[0], 1], dtype=torch.int64 | [300], dtype=torch.uint8 | long(300), dtype=torch.uint8 | [long(300)], dtype=torch.uint8
[1.5], requires_grad=True | [1], requires_grad=True | 1, dtype=None | 1, dtype=5 | 1, dtype='float32' | 1, dtypo=5 | 1, 2 | | data=5 | 1, device='cpu'
"""

CALLS = """
torch.add() | torch.add(x) | torch.add(v, 'a') | torch.add(v, 1, 2, 3, 4) | torch.add(v, 1, foo=2) | torch.add(input=v, other=1) | torch.add(v, other=v, alpha=2) | torch.add('a', v) | torch.add(v, None)
torch.relu() | torch.relu(1) | torch.relu(v, v) | torch.relu(v, foo=1) | torch.relu(input=v) | torch.relu(v, input=v) | torch.relu(None) | torch.relu('a') | torch.relu([v])
v.view() | v.view('a') | v.view(3, 'a') | v.view(1.5) | v.view([3]) | v.view((1, 3)) | v.view(1, 3) | v.view(size=(3,)) | v.reshape(1, 'a') | v.reshape() | v.expand('a') | x.permute('a') | x.permute(0, 1) | x.permute(2, 0, 1)
x.sum(dim='a') | v.sum(1.5) | v.sum(0, 1, 2, 3) | v.sum(foo=1) | v.sum(0, True) | x.sum((0, 1)) | x.sum([0, 'a']) | v.mean(foo=1) | x.mean() | x.sum(5) | x.sum((0, 0)) | v.sum(axis=0, keepdims=True)
x.transpose(0) | x.transpose(0, 1, 2) | x.transpose('a', 'b') | x.transpose(0, 5) | v.transpose(0, 0) | x.transpose(dim0=0, dim1=1)
torch.cat() | torch.cat(v) | torch.cat([v, 1]) | torch.cat([1]) | torch.cat([]) | torch.cat([v, v], 0, 0) | torch.cat((v, v)) | torch.cat([v, x]) | torch.stack([v, None]) | torch.stack() | torch.stack([v, z])
torch.zeros() | torch.zeros('a') | torch.zeros(2.5) | torch.zeros(2, 'a') | torch.zeros([2, 'a']) | torch.zeros((2,)) | torch.zeros(2, dtype=1) | torch.zeros(-1) | torch.zeros(2, foo=1) | torch.full((2,)) | torch.full((2,), 'a') | torch.full((2,), 1)
torch.arange() | torch.arange('a') | torch.arange(1, 2, 3, 4) | torch.arange(3, 1) | torch.arange(0, 3, 0) | torch.arange(3, dtype='a') | torch.arange(end=3) | torch.linspace(0, 1) | torch.eye()
torch.mm(z) | torch.mm(z, z, z) | torch.mm(z, z) | torch.mm(z, 1) | torch.mm(z, v) | z.mm() | z.mm(z.t()) | torch.matmul(z) | torch.bmm(z, z)
torch.softmax(v) | torch.softmax(v, 'a') | torch.softmax(v, 0.5) | torch.softmax(v, 5) | v.softmax() | v.softmax(0, 1, 2)
torch.where() | torch.where(v) | torch.where(mask, 1) | torch.where(mask, 'a', 1) | torch.where(mask, z, 1.5) | torch.where(z, z, z)
torch.clamp(v) | torch.clamp(v, 'a') | torch.clamp(v, 0) | torch.clamp(v, max=1) | torch.clamp(v, 0, 1, 2) | v.clamp(min=v, max=1)
v.item() | one.item(1) | one.item() | v.numel(1) | v.dim(1) | v.size('a') | v.size(5) | x.size(1) | v.tolist(1) | v.t(1) | v.contiguous(1) | v.type('foo') | v.to('foo') | v.to(torch.int64) | v.squeeze('a') | v.unsqueeze() | v.unsqueeze(0)
x.sum(['a', 'b']) | torch.hstack([1]) | torch.stack([1, v]) | torch.cat(['a']) | v.copy_(True) | v.copy_('a') | one.type('torch.FloatTensor') | one.type(5) | x.tolist(a=1) | x.dim(a=1) | x.nelement(1) | x.ndimension(1) | x.element_size(1) | x.data_ptr(1) | x.storage_offset(1) | x.stride(7) | x.item()
v.add_() | v.add_('a') | v.clone(5) | v.clone(foo=5) | v.fill_() | v.fill_('a') | v.copy_(1) | v.nothing() | torch.nothing(v)
torch.nn.functional.relu() | torch.nn.functional.linear(v) | torch.nn.functional.linear(v, 1) | torch.nn.functional.gelu(v, 'a') | torch.nn.functional.pad(v, 1)
torch.max(x, v) | torch.max(v, 'a') | torch.max(v, 0, True, 3) | torch.max(x, 1).indices | torch.topk(v) | torch.topk(v, 'a') | torch.topk(v, 2).values | torch.sort(v, 'a') | torch.sort(v, 0, True).values | torch.std(v, 'a') | torch.var(v, foo=1)
torch.einsum('i,i->', v, v) | torch.einsum('i,j->', v) | torch.einsum('i->k', v) | torch.split(v, 'a') | torch.split(v, 2) | torch.chunk(v, 2) | torch.gather(x, 0) | torch.index_select(v, 0, 1) | torch.masked_select(v, 1)
"""


def show(r):
    if isinstance(r, torch.Tensor):
        return "%s%s %s" % (str(r.dtype)[6:], list(r.shape), r.tolist())
    if isinstance(r, (tuple, list)):
        return "(" + "; ".join(show(a) for a in r) + ")"
    return repr(r)


def line(text, run):
    try:
        r = show(run())
    except Exception as e:
        r = type(e).__name__ + ": " + "\n    ".join(str(e).split("\nException raised from")[0].rstrip().split("\n"))
    print(text, "=>", r)


def cases(text):
    return [c.strip() for l in text.strip("\n").split("\n") for c in l.split(" | ")]


def write(text):
    t = torch.arange(6).view(2, 3)
    exec(text, {**globals(), "t": t})
    return t


for c in cases(READ):
    line(c, lambda: eval(c))
for c in cases(WRITE):
    line(c, lambda: write(c))
for c in cases(DATA):
    c = "torch.tensor(" + c + ")"
    line(c, lambda: eval(c))
for c in cases(CALLS):
    v = torch.tensor([1.5, -2.0, 3.0])
    line(c, lambda: eval(c))

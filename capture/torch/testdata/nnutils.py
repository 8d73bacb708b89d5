import torch, torch.nn as nn, warnings
warnings.simplefilter("ignore")
torch.manual_seed(0)
from torch.nn.utils import *
from torch.nn.utils.rnn import *
m=weight_norm(nn.Linear(3,2)); print(m(torch.ones(1,3)), sorted(dict(m.named_parameters())))
m(torch.ones(1,3)).sum().backward(); print(m.weight_g.grad, m.weight_v.grad)
remove_weight_norm(m); print(m.weight)
m=spectral_norm(nn.Linear(3,2)); print(m(torch.ones(1,3)), sorted(m.state_dict()))
m=torch.nn.utils.parametrizations.weight_norm(nn.Linear(3,2)); print(m(torch.ones(1,3)), sorted(m.state_dict()), m)
torch.nn.utils.parametrize.remove_parametrizations(m,'weight'); print(m, sorted(m.state_dict()))
m=torch.nn.utils.parametrizations.spectral_norm(nn.Linear(3,2)); print(m(torch.ones(1,3)), sorted(m.state_dict()))
class Sym(nn.Module):
    def forward(s,x): return x.triu()+x.triu(1).t()
m=nn.Linear(2,2); torch.nn.utils.parametrize.register_parametrization(m,'weight',Sym()); print(m.weight, m)
x=[torch.arange(3.),torch.arange(5.),torch.arange(1.)]
print(pad_sequence(x), pad_sequence(x,batch_first=True,padding_side='left',padding_value=-1))
p=pack_sequence(x,enforce_sorted=False); print(p, pad_packed_sequence(p), unpack_sequence(p))
try: pack_sequence(x)
except Exception as e: print(e)
for cls in (nn.LSTM, nn.GRU, nn.RNN):
    torch.manual_seed(1)
    l=cls(1,2,num_layers=2,bidirectional=True,batch_first=True); l.flatten_parameters()
    o,h=l(pack_sequence([t[:,None] for t in x],enforce_sorted=False)); print(o.data, o.batch_sizes, h)
p=[nn.Parameter(torch.ones(3)) for _ in range(2)]
for q in p: q.grad=torch.full((3,),2.)
print(clip_grad_norm_(p,1.0), p[0].grad, clip_grad_value_(p,.1), p[1].grad, get_total_norm([q.grad for q in p]), clip_grad_norm_([],1))

import torch, torch.nn as nn
m=nn.Sequential(nn.Linear(2,2),nn.BatchNorm1d(2))
sd=m.state_dict(); print(list(sd._metadata.items()))
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
t(lambda: m.load_state_dict(sd)); t(lambda: m.load_state_dict(3)); t(lambda: m.load_state_dict({})); t(lambda: m.load_state_dict({'x':1,'0.weight':torch.ones(3),'0.y.z':2},strict=True)); t(lambda: m.load_state_dict({'x':1,'0.weight':torch.ones(2,2)},strict=False)); t(lambda: m.load_state_dict({'0.weight':3},strict=False))
sd={k:v for k,v in sd.items() if 'num' not in k}; t(lambda: m.load_state_dict(sd))
class E(nn.Linear):
    def get_extra_state(s): return {'a':1}
    def set_extra_state(s,x): print('set',x)
e=E(1,1); t(lambda: e.load_state_dict(e.state_dict())); print(list(e.state_dict())); t(lambda: nn.Linear(1,1).load_state_dict(e.state_dict()))
e.register_state_dict_pre_hook(lambda m,p,k: print('pre',p,k)); e.register_state_dict_post_hook(lambda m,d,p,l: print('post',p,l)); e._register_state_dict_hook(lambda m,d,p,l: {'q':1}); print(e.state_dict())
l=nn.Linear(1,1); l.register_load_state_dict_pre_hook(lambda m,s,p,*a: print('lpre',type(m).__name__,p)); h=l.register_load_state_dict_post_hook(lambda m,k: k.missing_keys.clear()); t(lambda: l.load_state_dict({})); h.remove(); t(lambda: l.load_state_dict({}))
w=torch.ones(1,1); l=nn.Linear(1,1,bias=False); l.load_state_dict({'weight':w},assign=True); print(l.weight.data_ptr()==w.data_ptr(), l.weight)

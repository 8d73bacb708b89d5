import torch, warnings
warnings.simplefilter("ignore")
import torch.optim as O
import torch.optim.lr_scheduler as L
def run(make, n=12, **k):
    torch.manual_seed(0)
    ps=[torch.nn.Parameter(torch.randn(3,2)),torch.nn.Parameter(torch.randn(2))]
    x=torch.randn(5,3); y=torch.randn(5,2)
    o=make(ps)
    def closure():
        o.zero_grad(); l=((x@ps[0]+ps[1]-y)**2).mean(); l.backward(); return l
    for _ in range(n): l=o.step(closure)
    print(type(o).__name__, '%.3f' % float(l), [['%.3f' % v for v in p.flatten().tolist()] for p in ps], sorted(o.defaults), {k:[sorted(s) for s in [v]] for k,v in o.state_dict()['state'].items()})
for n,ks in dict(Adadelta=[{},{'weight_decay':.1,'maximize':True}],Adagrad=[{},{'lr_decay':.1,'weight_decay':.1,'initial_accumulator_value':.1}],Adamax=[{},{'weight_decay':.1,'maximize':True}],ASGD=[{},{'t0':3,'lr':.1,'weight_decay':.1}],NAdam=[{},{'weight_decay':.1},{'weight_decay':.1,'decoupled_weight_decay':True}],RAdam=[{},{'weight_decay':.1},{'weight_decay':.1,'decoupled_weight_decay':True}],RMSprop=[{},{'momentum':.9,'centered':True}],Rprop=[{},{'etas':(.3,1.5)}],Adafactor=[{},{'weight_decay':.1,'d':1.5}],LBFGS=[{},{'lr':.1,'max_iter':4},{'line_search_fn':'strong_wolfe'},{'line_search_fn':'strong_wolfe','max_iter':3,'lr':.5}],SGD=[{'foreach':True}],Adam=[{'fused':False,'foreach':False}],AdamW=[{'amsgrad':True}]).items():
    for k in ks: run(lambda ps: getattr(O,n)(ps,**k), 4 if n=='LBFGS' else 12)
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
p=[torch.nn.Parameter(torch.ones(2))]
for n in "Adadelta Adagrad Adamax ASGD NAdam RAdam RMSprop Rprop SparseAdam Adafactor LBFGS SGD Adam AdamW".split():
    t(lambda: getattr(O,n)(p,lr=-1)); t(lambda: getattr(O,n)([])); t(lambda: getattr(O,n)(p,lr=torch.ones(2)) if n != "SparseAdam" else None); t(lambda: getattr(O,n)(p,betas=(1.2,.9)) if n != "Rprop" else None); t(lambda: getattr(O,n)(p,weight_decay=-1)); t(lambda: getattr(O,n)(p))
def sched(make, n=14, opt=None):
    o=opt or O.SGD([{'params':p,'lr':.1},{'params':[torch.nn.Parameter(torch.ones(1))],'lr':.5}],momentum=.9)
    s=make(o); out=[s.get_last_lr()]
    for i in range(n):
        o.step(); s.step() ; out.append(s.get_last_lr())
    print(type(s).__name__, out, [g.get('momentum') for g in o.param_groups]); d=s.state_dict(); print(sorted(d)); s2=make(o); s2.load_state_dict(d); o.step(); s2.step(); print(s2.get_last_lr())
for m in (lambda o:L.StepLR(o,3), lambda o:L.MultiStepLR(o,[2,5,5]), lambda o:L.ConstantLR(o), lambda o:L.LinearLR(o,.2,.9,4), lambda o:L.ExponentialLR(o,.9), lambda o:L.PolynomialLR(o,5,2.), lambda o:L.CosineAnnealingLR(o,5,.01), lambda o:L.CosineAnnealingWarmRestarts(o,3,2), lambda o:L.LambdaLR(o,lambda e:.9**e), lambda o:L.LambdaLR(o,[lambda e:.9**e, lambda e:1/(e+1)]), lambda o:L.MultiplicativeLR(o,lambda e:.9), lambda o:L.CyclicLR(o,.01,.1,3), lambda o:L.CyclicLR(o,.01,.1,3,2,'triangular2'), lambda o:L.CyclicLR(o,.01,.1,3,mode='exp_range',gamma=.9), lambda o:L.OneCycleLR(o,.3,total_steps=16), lambda o:L.OneCycleLR(o,[.3,.2],epochs=4,steps_per_epoch=4,anneal_strategy='linear',three_phase=True), lambda o:L.SequentialLR(o,[L.ConstantLR(o,.1,2),L.ExponentialLR(o,.9)],[4]), lambda o:L.ChainedScheduler([L.ConstantLR(o,.1,2),L.ExponentialLR(o,.9)])):
    t(lambda: sched(m))
o=O.SGD(p,lr=.1); s=L.ReduceLROnPlateau(o,patience=1,cooldown=1)
for v in [1,.9,.91,.92,.93,.94,.95,.96,.5]: s.step(v); print(s.get_last_lr(), s.num_bad_epochs, s.best)
print(sorted(s.state_dict()))
t(lambda: L.StepLR(3,1)); t(lambda: L.ConstantLR(o,2.)); t(lambda: L.LinearLR(o,2.)); t(lambda: L.OneCycleLR(o,.1)); t(lambda: L.CyclicLR(O.Adadelta(p),.1,.2)); t(lambda: L.SequentialLR(o,[],[])); t(lambda: L.SequentialLR(o,[s],[])); t(lambda:L.CosineAnnealingWarmRestarts(o,0)); t(lambda: L.StepLR(O.SGD(p,lr=.1),2,last_epoch=3)); t(lambda: L.LambdaLR(o,[1,2])); t(lambda:L.ReduceLROnPlateau(o,factor=2)); t(lambda:L.ReduceLROnPlateau(o,'x'))
s=L.StepLR(O.SGD(p,lr=.1),2); s.step(5); print(s.get_last_lr())
o=O.Adam([('w',p[0])],lr=.1); t(lambda: o.state_dict()['param_groups']); print(o)
o=O.LBFGS(p); print(o)

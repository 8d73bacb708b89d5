import base64, copy, io, pickle, random, zipfile, zlib

import torch

# What a real PyTorch wrote.
STATE = 'c-qC5-EZ4e7{*VWG|60+wqs><urdmabZn^|$NAVt24?uiNb8J17B`XO9L3hWq_2HaG^C;msgn>l+%s{(6(8b)Ya}MYUw{PD?m*&C;06gU@bPgY`;={Mk=T(e$IkgZ&vWeeyve$eFCbJdqdj9D9Yc2DxZWmS8`#9IZQSs6t%BaojBUYj#=ego;*Ce4cr6&<01vKu4iN#ZnvknnR9mXOhrOXoKyb)760P+n#PdV37vTQH^9MbGN8vc=ZPrD|SF2VjV!~*qJ;YF8h^YHxo4mztiZEm4s4f((d~|j;CQvd81j^S9WC(_E8;(S$+-(p)a%qlP0#BH5)GEed`koy^#f_ZYg3FX-m~%^pKwv&r*ntHjw*$u*{Um|oCM?EFk$0E!REDp^3C2I2@Jp0G$@pgoJZr+K*j;As%NbgM=NNrDp`WMp3Zq{j@S+JXS(TU$CZmxz8uo5tdjw}PDh+s<sZ<k{RjP89sk}nqoC)WxqZyS=JAhh7M1?gbA|)a+6{#~3g+Rju)mn^2Mw6SpzD*n#hdmP5&J8?(CKF5E*_-3haQezxv3?WUk$#RqC(>VCWx5v#Tr}a*WD71^N1{p5>WEFN4!ZI8SE?4RNqBV&UW<!k69-{baiAHwFsX#sx8SNfy_VsPEzqNDA)JK$+PYCHpWMFl^A`d_^jLpj-7lb}Y2Ej45j>_Pt!s;1;U~lQ2=Osh-?{wz5`Dk)c(8f}bu+taP13as|1Q0+v2yF1@9s2z=zjb6@w=zmGk0l{5C8h$)A@J@KRihzn?%+%>A*?uZG8Ow*JrgZ_5JeNnJzUdKf?D?*0-)}?L$8Sgto8HgZh7Rz4*%^{FVRa&j$7PeqF(b@NYb3fAujx|K|U@{yB7U>YsEGU27dSfFe@opFSJD9W@msJk)s^)u+z2c<CVyJlpr)x9P8E&l~7k?SMh#M!PMktyZViX*XNVc1u=OsiAb#j?z}8mL$n_NmV)uP5C4K<3u&eQH@jPXxM4abZ?yBlbrt_z|-m8w~!(K6wuyo%H!#VRmtG*<Pp~{c{bg2vg~g>EAwo+V6&`M;Mh9Pri(4h-sf3m|Ex8`v5oy_zR$Dj0ep)b+vM4FiO*$yQ*5%KcsN~o%Nf`#p-1eAb)#53x4VP#=cnW>cm7I9Dz3EK5sLAr&qa2fi|@@888aKtXLJ7n3i4^S'
SHARED = 'c-p0uT~E_c7{~jvH;ayeD4>7{z7&IFEu(B2nQ2UKdf}MS5MnaR*3ibf?di@)Fp(@KLrJ{QYmLzl;Duh|1&LokP5cI4=&g4qa^dMIENuxx;>pfV+CIPM|L-}^)4a-tC@L1C_KXD8OKEn=Fjw@cvWB!|?Y^bRaca>wn#?1h_yrmR8qg(F#YD2$K&DmainhMgFs*VC>6LobF0P0iFg(8y#ldwPsV(ckx(KIORSn&8Z*mYK2~!YWVDVb2H6Wr!5JcxyN@Y}b9bzi0((7<!qg1L|mR>?;wNmG9+GX9=%Qwst;((hdKo^3e1vo~sEkWGC>IQ3sjIcrSb<g88Yzq=9-GZJC!$Eox94|m0L27VfpEs&$w)Q|ry3N7K-K+!=pdaTBAsBGIGV3si7wq+voBuR|p#ls)B^M)4;7kEV32DGtH`C6J$Ye_dsl6#<Bus>HEWjW*M+91M-Z6i{O@0vpUw{b`Sb<9_+eqfsXzcFhGyW~U=gj=R2i`-Cwhw%173o!HHx+p(aN_=9nFv|BBhtF|eK3O4ICFoII5p?1s;QJBU+JjOdAM1dIsA7W|L|<$`R2OgsQ>wo7X$dgzyXdX{f-1h=KtBz*y_8FucS|N@3;H5hBM(UNB8lcwU-IfL7jEeeqB+KQ-|J(X0DlYG`H72SFjKj>ZsXG<=UDnx?RUzqsUkPWBV7UIY<5L>*d=F&d+pIAECsydXl_yUAIlmG9PMA{}#=%A}0@NCN(Pxq9n~^XVaOCloh3!jFg&|gmhY(o)NQINfNR`I+bx;c8!0D^VkPZT+)u&woh-1B=$HDeg}iJxAuE{<S&}q+f+f^Tc~j#eutp~?Gj|Y#pY*!23aA<dW*)--eUu-7-YRi-tA+*dDxvI3&P%$81cb{5OqL}<kd)Ia<`(`%WX0mST|{R{T*^w%#lYQBJMR!?u8>R6D9F(>|YI_jgk'
LEGACY = 'c-nQ5&rj4q6vx|{?gFDIAgGAQ50R{w&AKdfxhMz2W&B0G^g^22ozR-n**Be%U_!DNR`74&;L(c*&mKtpZ~PNXIQUA7(I!qh^D=MV`+mMN9gt5fzBt?dwfO$ao7v`oy!=UVJp!ZQP8f#KS5nJB#@>NYX(SUcvA`Y2lQ_~k7M@6Yk)HrLaTzA{VPAM@^g*ORkHBiUHB6?VR2piWxD<C$qM^<$*UB|yvIisF$}(i`A~VoZ1!2?6bQGt|Q{r6~#XV1pB$diLXfrSy4R<6L#Y%rq04ZA73zT|W<QPzQ3`;tjc6;64Y`4I=BnSNrUC>v^-{A(Q$A~tMVe~Y>3&tYQc)ygrRz0Ca?|Bqx24jyMU>dGDa6LqFctzWerLX_s#!Fnw?si*iZMYHEcpWh}a}42h2os!ga|n~CVXio(;g$o_g<@Fko+-O;?_d*}ypx-}TXfE9xaYv!f1auDD}P^Tp%~n+h}%!>jrC3k=26^2@dt%9GK2*TXl=0oENNJF;Ni*TX5}M1a$r@IKd0i;tVol}qf^nW8-I_%GhDXt!#TkDdCMwKmJh#vKil~6^xMVs`Fyu_PK|$uSw>RE-^{qN&;'
MODULE = 'c-qBR+jA3D7~iJQmM!$gMXnVQF-1t5G)=;-XvClfOIbu$5Z6tz$yvME&9{5DwP+R4(js0E6}jp7s*Vpj<AdXj%=iyDKIn{3%!vPh<BK!;;JIwt?4}^p8QGc4Cg*&=-|su$`JHb!!`a3Kg3!_;)Lk7ym!R5tq>pO71r@82%7~Fkw+V-R*YQvuTO=xCnvt?qa1G6g<Si4cx~bXXK@D8Z#JXyTAoQGoh6xCTWh#bk5}}(VXq=W?$#12i+G<(Dn(e@X30TO2l$={E(vhYKXqMN|5z{i23K`NJOo*!iilbp@$t&cyZeZP16p@UGu;?g=lh7)`VtFa!Q}ZKZs$Ebjwx%G<8gXDrK5rR@mdCnfI^ur2pxIhskDe#!wjK%E<#r#CgE|nM>y%f}Io(l;u3`9Nple8Oqq9ZJt^qD(z-994x+!H$$4H?BB?p$Xuod#!`Y_cPQ^y@8uacw-a2E?)DR<Qd&Ms~hn_ew<&pGXrT*E@w%AGXS!7A320;z&Ww2sYo%gY0^vr>1ni1mDBhNTwf4!ehiZQz?(7iKwC!FyTUMs5SoSa9D2YzoT_WT+4BulJonJg3^?K7NBRF<j3CY!0KwX+%8rKv-@f&@oLfAq-nQyy9Zra74w{sCNppJ``c=4MK?X9LrWlV<JStVY!)*IwVppY0%3dVumaYALN4~^m#c)<wkPPS6ql?7hvc=kQK6_Z0Hok$*tiO44h`GPGCq%keX&cwoSoy33kZjlnOarbzmpjiij-gMVvMYyHG3}!Z66_CSiBBVG<tXR1aZDOYktK+A{@@NRV+6IZk^~3nHiE(Mfnrg2&Mk7LY~U*!xh|5aL#S0&y=6A#Sz(h<j=nal;%y+!_+%1~`cL4nK+b4jw{e)1G2SoE*!drefD7JNa}rBrhgomWyWx<!s2!d24#6etUB&&Lh*Z%VL^-8zSGL1rZLDZ9Xyq&sMkjXc%n?lqd$z@e(OsiJqq=QhAAT81fPnc!{(rC`wR5!6Nqq;taaS@B(ER;S2_bvIHh)u%@6Q0k9(5VYW!yHEF9;%9?6|<KvA3=De=QJ4$)SIPZ%X#w9q$idW?rRc(05M=<~|bBYO%;uT8qDyKM(;e-SyS@$#DvchVpISOgN`4Q4TUgK1rYxh}ZX~wj#Gxh{b67~iRrwDsb4`-diFfGApmwV`qNjM|Ho1TZ>@;vnRtcTw5JapFc(7T?8&Uqes&-2jxo`*j0Japdk(1+AR7g#Cj8fN@*k(h`cD6QharM-i{{rUCub@V%H8D*<X9uICAF7Ms_%|&`$VuxQX7D;!2E7PnZtO`oCw6qa9@X@rJbKP8IINRKEZOIRx{6b*#Gkn7bWv39Hc~IuYv1ZX{NG828@T8pkGIWd$jfzd~y1t60NIy3gYZC^2PvzdeOnUn*Db0Ot82{qiD~az1zx;dI)pe<bS7|0E|9a(e2YUm!c_wjxCeci~@3u4fxpL;a&o`$BsqUxyHw{vumVeRR>DP^A(y4h@KoE}arXQ+*_CV85^U&}AZ~FYA`uepE+C22*cUXVm4%a{N|E|AX*fFC&O5a2+Gm}ovH-UbUD*yO#=}?Gphi<CeEyQM&BW&r8W|Mbo{g_JMUKPENNk?uok!U=X>KjNVw<Wiw63Ij=866ntizO5B{uG&rB~$TKe_u3_pjm!(<d5+%$s^3NY@o@`<XPJ)JL)nI{*MTvYkOa(582Z!)Hl~4ytZMr`QYc9g+RLuVr!d@AG^LKfQ<&RwTAU$F9fl%Ahy<Qe(cIc0c`)RV=n};@mtS%r5L~t+=gxtn+RfSE#B_eZ54tCDhRH1Ubhc?t_D2!nHbJCHEpS$pvJ8;$kxF9vk<?h7FRn$6MeH6e)U$`z{VCfaZD?V=du3)fQ#+E'


def of(text):
    return io.BytesIO(zlib.decompress(base64.b85decode(text)))


def again(o, load={}, **kw):
    b = io.BytesIO()
    torch.save(o, b, **kw)
    b.seek(0)
    return torch.load(b, **load)


def t(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


state = torch.load(of(STATE))
print(list(state.items()), list(state._metadata.items()))
d = torch.load(of(SHARED))
d["b"].fill_(7)
print(d)
legacy = torch.load(of(LEGACY))
legacy[2].zero_()
print(legacy)
m = torch.load(of(MODULE), weights_only=False)
print(m, m[0].weight)
t(lambda: torch.load(of(MODULE)))

x = torch.arange(6.0).view(2, 3)
for kw in ({}, {"_use_new_zipfile_serialization": False}):
    d = again({"x": x, "row": x[1], "t": x.t(), "empty": torch.zeros(0), "grad": torch.ones(2, requires_grad=True), "p": torch.nn.Parameter(torch.ones(1)), "c": torch.tensor([1j]), "s": torch.Size([2]), "d": torch.int8,
               "dev": torch.device("cpu"), "l": [1, 2.5, "x", None, True, {1, 2}, b"abc", 1j, (1,)]}, **kw)
    d["row"].fill_(9)
    print(d, d["t"].stride())
    print(list(again(m.state_dict(), **kw)), again(m, {"weights_only": False}, **kw))
b = io.BytesIO()
torch.save({"x": x, "y": x[0], "z": torch.zeros(3, dtype=torch.int16)}, b)
z = zipfile.ZipFile(b)
print([(i.filename, i.file_size) for i in z.infolist() if "pkl" not in i.filename], z.read("archive/version"), z.read("archive/byteorder"))


class Foo:
    def __init__(self):
        self.x = 1


t(lambda: again(Foo()))
t(lambda: again(Foo(), {"weights_only": True}))
t(lambda: again(print))
t(lambda: again(random.Random(3)))
torch.serialization.add_safe_globals([Foo])
t(lambda: again(Foo()).x)
print(Foo in torch.serialization.get_safe_globals())
torch.serialization.clear_safe_globals()
with torch.serialization.safe_globals([Foo]):
    t(lambda: again(Foo()).x)
t(lambda: again(Foo(), {"weights_only": False}).x)
for f in (lambda: torch.load(io.BytesIO(b"")), lambda: torch.load("/nonexistent.pt"), lambda: torch.save(1, "/nonexistent/a.pt"), lambda: torch.save(1, 3), lambda: torch.load(3),
          lambda: again(x, {"map_location": "cuda"}), lambda: again(x, {"map_location": "foo"}), lambda: again(x, {"map_location": {"cpu": "cpu"}}), lambda: again(x, {"map_location": torch.device("cpu")}),
          lambda: again(x, {"map_location": lambda s, l: (print(type(s), l, s.nbytes()), s)[1]}), lambda: again(x, {"mmap": True}), lambda: again(x, {"weights_only": True, "pickle_module": pickle})):
    t(f)
y = torch.zeros(2)
y.foo = 3
p = torch.nn.Parameter(torch.ones(1))
p.z = 1
print(again(y).foo, again(p).z, pickle.loads(pickle.dumps(x)), pickle.loads(pickle.dumps(p)))
c = copy.copy(x)
c.add_(1)
print(x, copy.deepcopy(x) is x)
g = torch.Generator().manual_seed(4)
torch.rand(3, generator=g)
h = pickle.loads(pickle.dumps(g))
print(torch.equal(torch.rand(2, generator=g), torch.rand(2, generator=h)), g.device)
s = torch.arange(3, dtype=torch.uint8).untyped_storage()
print(s, len(s), s[1], s.tolist(), s.nbytes(), type(s))
print(torch.FloatTensor(2, 3).shape, torch.LongTensor([1, 2]), isinstance(x, torch.FloatTensor), isinstance(x, torch.LongTensor), x.type(torch.LongTensor), x.type(), x.new(2).shape, x.new([1, 2]), x.new_tensor([1]),
      x.new_tensor([1], dtype=torch.int64), torch.Tensor([1, 2]), torch.Tensor(2).shape, torch.Tensor(torch.Size([1, 2])).shape, torch.ByteTensor([1]).dtype, torch.BoolTensor([True]), torch.DoubleTensor([1]))
for f in (lambda: torch.FloatTensor(1.5), lambda: torch.LongTensor(x), lambda: torch.Tensor(-1), lambda: torch.frombuffer(bytearray(b""), dtype=torch.int8), lambda: torch.frombuffer(bytearray(b"abc"), dtype=torch.int16),
          lambda: torch.frombuffer(bytearray(b"abcd"), dtype=torch.uint8, count=2, offset=1), lambda: torch.frombuffer(bytearray(b"abcd"), dtype=torch.int32, count=2)):
    t(f)

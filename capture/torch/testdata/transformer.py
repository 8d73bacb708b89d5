"""nn.Transformer and EmbeddingBag with all that they take."""
import torch
from torch import nn
torch.manual_seed(0)
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
m = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0).eval()
s, g = torch.randn(5, 2, 8), torch.randn(4, 2, 8)
print(m(s, g)[0, 0], m(s, g, tgt_mask=m.generate_square_subsequent_mask(4))[0, 0], m(s, g, src_key_padding_mask=torch.tensor([[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]], dtype=torch.bool))[0, 0])
print(m(s, g, tgt_key_padding_mask=torch.zeros(2, 4, dtype=torch.bool), memory_key_padding_mask=torch.tensor([[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]], dtype=torch.bool))[0, 0])
t(lambda: m(s, torch.randn(4, 3, 8))); t(lambda: m(torch.randn(5, 2, 7), g))
b = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, batch_first=True, norm_first=True, bias=False, layer_norm_eps=1e-3, activation=torch.nn.functional.gelu).eval()
print(b(s.transpose(0, 1), g.transpose(0, 1))[0, 0], sorted(n for n, _ in b.named_parameters())[:6], len(list(b.parameters())))
print(m(s[:, 0], g[:, 0]).shape, m.generate_square_subsequent_mask(3))
print(m.d_model, m.nhead, m.batch_first)
c = nn.Transformer(8, 2, custom_encoder=nn.Identity(), num_decoder_layers=1, dim_feedforward=8); print(type(c.encoder).__name__)
e = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2); print(e(torch.randn(2, 3, 8), is_causal=True, mask=nn.Transformer.generate_square_subsequent_mask(3)).shape)
torch.manual_seed(1)
for mode in ("sum", "mean", "max"):
    eb = nn.EmbeddingBag(10, 3, mode=mode, padding_idx=0); print(eb, eb(torch.tensor([[1, 2], [0, 3]])), eb(torch.tensor([1, 2, 3, 4]), torch.tensor([0, 2])).shape)
eb = nn.EmbeddingBag(10, 3, 1.0, 2.0, mode="sum", include_last_offset=True); print(eb(torch.tensor([1, 2, 3]), torch.tensor([0, 2, 3])), eb)
eb = nn.EmbeddingBag.from_pretrained(torch.arange(6.).reshape(3, 2), mode="sum"); print(eb(torch.tensor([[0, 1]])), eb.weight.requires_grad); eb(torch.tensor([[0, 1]]), per_sample_weights=torch.ones(1, 2))
print(nn.EmbeddingBag(5, 2, sparse=True).sparse)

"""Functions of torch.linalg: see torch._refs."""
from torch.linalg import cross, diagonal, matrix_norm, norm, svd, svdvals, vecdot, vector_norm

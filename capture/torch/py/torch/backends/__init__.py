"""The libraries that PyTorch computes with: what is there, and their settings."""
from torch.backends import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, openmp

"""What PyTorch's own tests are written with."""

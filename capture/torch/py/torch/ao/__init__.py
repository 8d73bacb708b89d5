"""Quantization, which is not done here."""

"""Checkpointed modules."""

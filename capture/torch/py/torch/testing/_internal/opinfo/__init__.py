"""Descriptions of operators for tests."""

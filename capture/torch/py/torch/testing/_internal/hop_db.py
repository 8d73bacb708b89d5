"""Descriptions of higher-order operators for tests; none is described yet."""
hop_db = []
hop_that_doesnt_have_opinfo_test_allowlist = []

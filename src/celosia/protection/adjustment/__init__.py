"""Controlled tabular adjustment: one plausible table close to the true one."""

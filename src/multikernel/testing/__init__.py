"""Conformance suites: what a kernel, a bank, a machine and the others have to be, checked in one line."""

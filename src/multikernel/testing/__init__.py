"""Conformance suites, for whoever adds a part: each checks in one line that a new one does what the others do."""

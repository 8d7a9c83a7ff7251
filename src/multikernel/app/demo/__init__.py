"""The comparison that ``multikernel demo`` makes on bundled data."""

"""What a process may take of the machine, where the platform can limit it."""

from __future__ import annotations


def limit_memory(size: int) -> None:
    """Bytes that this process may allocate."""
    _limit("RLIMIT_DATA", size)


def limit_file_size(size: int) -> None:
    """Bytes of each file that this process may write."""
    _limit("RLIMIT_FSIZE", size)


def _limit(name: str, size: int) -> None:
    try:
        import resource
    except ImportError:  # on Windows
        return
    resource.setrlimit(getattr(resource, name), (size, size))

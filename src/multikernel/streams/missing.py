"""Words for a value that is not known."""

_MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "#n/a", "<na>"})


def is_missing(cell: str) -> bool:
    """Whether a cell says that its value is not known."""
    return cell.lower() in _MISSING

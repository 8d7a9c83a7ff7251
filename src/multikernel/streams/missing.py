"""Words for a value that is not known."""

_WORDS = {"", "?", "na", "n/a", "nan", "null", "<na>"}
_FORMULAS = {"#n/a", "#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!"}  # that spreadsheets could not compute
_MISSING = frozenset(_WORDS | _FORMULAS)


def is_missing(cell: str) -> bool:
    """Whether a cell says that its value is not known."""
    return cell.lower() in _MISSING

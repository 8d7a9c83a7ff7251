"""Words for a value that is not known."""

_WORDS = {"", "?", "na", "n/a", "nan", "null", "<na>"}
_FORMULAS = {"#n/a", "#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!"}  # errors of formulas in spreadsheets
_MISSING = frozenset(_WORDS | _FORMULAS)


def is_missing(cell: str) -> bool:
    """Whether a cell is a word for a missing value."""
    return cell.lower() in _MISSING

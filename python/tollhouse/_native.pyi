"""The host, compiled. Everything that decides is here; JSON goes in and comes out."""

def matches(method: str, pattern: str) -> bool:
    """Whether the pattern covers the method.

    Raises `ValueError` for a malformed pattern.
    """

def pattern_is_subset(child: str, parent: str) -> bool:
    """Whether every method that `child` covers is covered by `parent`.

    Raises `ValueError` for a malformed pattern.
    """

def check_clauses(clauses_json: str, arguments_json: str) -> str | None:
    """None if all clauses hold, else what failed first.

    It is JSON: `{"param", "clause", "actual", "missing", "mismatch"}`. `mismatch` is the type expected, when the
    type of the value does not fit the operator. Raises `ValueError` for malformed clauses or arguments.
    """

def clauses_subsume(parent_json: str, child_json: str) -> bool:
    """Whether whatever the child's clauses admit, the parent's admit.

    Raises `ValueError` for malformed clauses.
    """

def grant_is_subset(parent_grant_json: str, child_grant_json: str) -> bool:
    """Whether the child's grant allows nothing that the parent's does not.

    Raises `ValueError` for malformed grants.
    """

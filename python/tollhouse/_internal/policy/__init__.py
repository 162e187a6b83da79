"""What policies say, from Python: values of clauses, short specs, limits, and what a token grants."""

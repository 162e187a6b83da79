# A substitution that does not end.
# status: limited
# error: limit

x=$(yes)

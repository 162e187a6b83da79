# A process substitution that does not end.
# status: limited
# error: limit

wc -l < <(yes)

# An endless process substitution.
# status: limited
# error: limit

wc -l < <(yes)

# Output without an end on standard error: what is reached first, the limit on output or on memory, ends it.
# status: limited
# error: limit
# stdout: ""

yes >&2

# Endless output on standard error, which either the limit on output or the limit on memory ends.
# status: limited
# error: limit
# stdout: ""

yes >&2

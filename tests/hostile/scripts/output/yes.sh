# Endless output, which either the limit on output or the limit on memory ends.
# status: limited
# error: limit

yes

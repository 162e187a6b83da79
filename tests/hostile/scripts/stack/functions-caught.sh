# What goes too deep ends the run, whatever stands behind it.
# status: limited
# error: limit
# stdout: ""

f() { f; }
f || echo caught

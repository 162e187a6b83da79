# A recursion that is too deep ends the run, regardless of the commands after it.
# status: limited
# error: limit
# stdout: ""

f() { f; }
f || echo caught

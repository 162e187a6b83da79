# A fork bomb of subshells.
# status: limited
# error: limit

f() { (f) & (f) & wait; }
f

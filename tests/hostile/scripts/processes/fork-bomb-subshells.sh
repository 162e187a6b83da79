# The same in subshells.
# status: limited
# error: limit

f() { (f) & (f) & wait; }
f

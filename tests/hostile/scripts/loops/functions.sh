# Two functions that call each other in subshells.
# status: limited
# error: limit

a() { (b); }
b() { (a); }
a

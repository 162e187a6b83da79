# A function that calls itself.
# status: limited
# error: limit

f() { f; }
f

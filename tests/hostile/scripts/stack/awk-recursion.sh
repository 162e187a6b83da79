# A recursive function in awk that adds numbers.
# status: failed
# error: exit

awk 'function f(n) { return 1 + f(n + 1) } BEGIN { print f(0) }'

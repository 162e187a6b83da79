# A recursive function in awk.
# status: failed
# error: exit

awk 'function f(n) { return f(n + 1) } BEGIN { f(0) }'

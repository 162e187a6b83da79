# A function of awk's that calls itself.
# status: failed
# error: exit

awk 'function f(n) { return f(n + 1) } BEGIN { f(0) }'

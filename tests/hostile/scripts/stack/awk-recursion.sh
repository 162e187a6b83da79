# A function of awk's that calls itself, and adds.
# status: failed
# error: exit

awk 'function f(n) { return 1 + f(n + 1) } BEGIN { print f(0) }'

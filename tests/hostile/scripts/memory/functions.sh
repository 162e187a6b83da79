# Endless functions.
# status: limited
# error: limit

x=$(printf ': x%.0s;' {1..1000})
for ((i = 0; ; i++)); do eval "f$i() { $x }"; done

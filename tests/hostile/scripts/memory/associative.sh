# An endless associative array.
# status: limited
# error: limit

declare -A a
x=$(printf 'x%.0s' {1..10000})
for ((i = 0; ; i++)); do a[$i]=$x; done

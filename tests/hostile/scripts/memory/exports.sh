# An endless environment.
# status: limited
# error: limit

x=$(printf 'x%.0s' {1..10000})
for ((i = 0; ; i++)); do export "v$i=$x"; done

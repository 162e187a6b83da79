# Source text of nested expansions.
# status: failed

eval "echo $(printf '${x:-%.0s' {1..5000})a$(printf '}%.0s' {1..5000})"

# A jq program with nested lists.
# status: failed

jq -n "$(printf '[%.0s' {1..20000})$(printf ']%.0s' {1..20000})" > /dev/null

# An endless range in jq.
# status: limited
# error: limit
# limits: wall = "600ms"

jq -n 'last(range(infinite))'

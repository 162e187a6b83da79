# A range without an end.
# status: limited
# error: limit
# limits: wall = "600ms"

jq -n 'last(range(infinite))'

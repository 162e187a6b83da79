# A condition in jq that never becomes true.
# status: limited
# error: limit
# limits: wall = "600ms"

jq -n '1 | until(false; .)'

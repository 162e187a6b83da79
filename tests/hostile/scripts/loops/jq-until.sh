# A condition of jq's that is never met.
# status: limited
# error: limit
# limits: wall = "600ms"

jq -n '1 | until(false; .)'

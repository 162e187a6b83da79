# An endless loop in jq.
# status: limited
# error: limit
# limits: wall = "600ms"

jq -n 'def f: f; f'

# An endless loop in awk.
# status: limited
# error: limit
# limits: wall = "600ms"

awk 'BEGIN { while (1) ; }'

# A loop of awk's.
# status: limited
# error: limit
# limits: wall = "600ms"

awk 'BEGIN { while (1) ; }'

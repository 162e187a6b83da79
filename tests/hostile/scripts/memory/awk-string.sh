# A text of awk's that doubles.
# status: limited
# error: limit

awk 'BEGIN { x = "x"; while (1) x = x x }'

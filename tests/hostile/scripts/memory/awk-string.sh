# A text in awk that doubles.
# status: limited
# error: limit

awk 'BEGIN { x = "x"; while (1) x = x x }'

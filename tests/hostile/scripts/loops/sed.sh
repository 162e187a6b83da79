# A jump in sed to itself.
# status: limited
# error: limit
# limits: wall = "600ms"

echo a | sed ':a;ba'

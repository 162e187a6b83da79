# A substitution in sed that always matches.
# status: limited
# error: limit
# limits: wall = "600ms"

echo a | sed ':a;s/a/a/;ta'

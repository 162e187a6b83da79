# A trap before each command that runs commands itself.
# status: limited
# error: limit
# limits: wall = "600ms"

trap 'while :; do :; done' DEBUG
:

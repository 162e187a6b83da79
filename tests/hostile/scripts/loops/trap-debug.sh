# A trap that runs before each command, with commands of its own.
# status: limited
# error: limit
# limits: wall = "600ms"

trap 'while :; do :; done' DEBUG
:

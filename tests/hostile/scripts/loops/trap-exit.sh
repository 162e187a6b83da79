# An exit trap that does not end.
# status: limited
# error: limit
# limits: wall = "600ms"

trap 'while :; do :; done' EXIT
exit 0

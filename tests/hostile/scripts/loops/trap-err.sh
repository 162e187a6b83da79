# A trap for errors that fails itself, in a loop.
# status: limited
# error: limit
# limits: wall = "600ms"

trap 'false; false' ERR
while :; do false; done

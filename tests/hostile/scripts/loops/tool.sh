# Calls of a tool for ever.
# status: limited
# error: limit
# limits: wall = "600ms"

while :; do probe remember > /dev/null; done

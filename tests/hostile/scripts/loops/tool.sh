# Endless calls of a tool from the shell.
# status: limited
# error: limit
# limits: wall = "600ms"

while :; do probe remember > /dev/null; done

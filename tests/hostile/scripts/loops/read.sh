# A loop that reads standard input until it succeeds, although the input has ended.
# status: limited
# error: limit
# limits: wall = "600ms"

while ! read -r line; do :; done

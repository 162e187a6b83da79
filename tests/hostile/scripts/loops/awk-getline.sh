# awk reads a command that does not end.
# status: limited
# error: limit

awk 'BEGIN { while (("yes" | getline line) > 0) n++; print n }'

# Reading from an endless command in awk.
# status: limited
# error: limit

awk 'BEGIN { while (("yes" | getline line) > 0) n++; print n }'

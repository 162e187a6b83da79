# An endless stream that nobody keeps.
# status: limited
# error: limit

while :; do yes; done > /dev/null

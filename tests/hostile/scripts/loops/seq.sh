# An endless sequence.
# status: limited
# error: limit

seq 1 1e15 > /dev/null

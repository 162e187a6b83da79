# Output without an end: what is reached first, the limit on output or on memory, ends it.
# status: limited
# error: limit

yes

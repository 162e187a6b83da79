# Nested command substitutions, of which at most 64 are allowed.
# status: limited
# error: limit
# message contains: depth

f() { echo $(f); }
f

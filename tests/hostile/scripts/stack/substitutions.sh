# Substitutions in substitutions: at most 64.
# status: limited
# error: limit
# message contains: depth

f() { echo $(f); }
f

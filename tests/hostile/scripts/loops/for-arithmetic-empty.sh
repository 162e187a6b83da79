# The same with a condition that is assigned.
# status: limited
# error: limit
# limits: fuel = 50000
# message contains: fuel

for ((i = 1; i = 1; )); do :; done

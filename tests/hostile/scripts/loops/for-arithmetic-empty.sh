# An endless arithmetic loop whose condition is an assignment.
# status: limited
# error: limit
# limits: fuel = 50000
# message contains: fuel

for ((i = 1; i = 1; )); do :; done

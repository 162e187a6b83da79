# A loop whose condition is never true.
# status: limited
# error: limit
# limits: fuel = 50000
# message contains: fuel

until false; do :; done

# An arithmetic loop that counts for ever.
# status: limited
# error: limit
# limits: fuel = 50000
# message contains: fuel

for ((;;)); do ((n++)); done

# An endless loop. Earlier output is kept.
# status: limited
# error: limit
# stdout: "before\n"
# limits: fuel = 50000
# message contains: fuel

echo before
while :; do :; done

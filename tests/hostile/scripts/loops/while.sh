# A loop without an end; what it wrote before is kept.
# status: limited
# error: limit
# stdout: "before\n"
# limits: fuel = 50000
# message contains: fuel

echo before
while :; do :; done

# A tool that never returns.
# status: limited
# error: limit
# stdout: "before\n"
# calls: cancelled
# message contains: time limit
# limits: wall = "400ms"

echo before
probe spin

# A tool that never returns, called from the shell.
# status: limited
# error: limit
# stdout: "before\n"
# calls: cancelled
# message contains: time limit
# limits: wall = "400ms"

echo before
probe spin

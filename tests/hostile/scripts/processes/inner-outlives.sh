# A job that its script does not wait for. The run waits, and ends the job at its limit.
# status: limited
# error: limit
# stdout: "on\n"
# limits: wall = "500ms"

node -e 'await new Promise((r) => setTimeout(r, 1e9))' &
echo on

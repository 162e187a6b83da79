# A job that its script does not wait for: the run does, and ends it at its limit.
# status: limited
# error: limit
# stdout: "on\n"
# limits: wall = "500ms"

node -e 'await new Promise((r) => setTimeout(r, 1e9))' &
echo on

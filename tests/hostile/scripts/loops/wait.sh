# Waiting for a job that does not end.
# status: limited
# error: limit
# message contains: time limit
# limits: wall = "400ms"

sleep 100000 &
wait

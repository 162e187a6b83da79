# Sleeping for ever.
# status: limited
# error: limit
# message contains: time limit
# limits: wall = "400ms"

sleep infinity

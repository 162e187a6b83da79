# What never waits is not stopped by `timeout`, and by the run's limit all the same.
# status: limited
# error: limit
# limits: wall = "600ms"

timeout 0.1 bash -c 'while :; do :; done'

# What never waits is stopped by `timeout` all the same.
# status: completed
# limits: wall = "5s"

timeout 0.1 bash -c 'while :; do :; done'
[ $? = 124 ]

# `timeout` stops a command that never waits.
# status: completed
# limits: wall = "5s"

timeout 0.1 bash -c 'while :; do :; done'
[ $? = 124 ]

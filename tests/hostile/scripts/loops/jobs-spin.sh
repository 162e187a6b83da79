# Jobs that never wait.
# status: limited
# error: limit
# limits: wall = "600ms"

for i in 1 2 3 4; do while :; do :; done & done
wait

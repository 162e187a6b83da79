# Endless jobs, each of which waits.
# status: limited
# error: limit

while :; do sleep 1000 & done

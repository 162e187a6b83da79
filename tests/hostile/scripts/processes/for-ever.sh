# The same from the shell.
# status: limited
# error: limit

while :; do node -e '1'; done

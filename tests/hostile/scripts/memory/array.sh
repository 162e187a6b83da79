# An endless array.
# status: limited
# error: limit

while :; do a+=("${a[@]}" some words to begin with); done

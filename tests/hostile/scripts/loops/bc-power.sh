# A power beyond the range of bc, which reports an error.
# status: failed
# error: exit

echo '9 ^ 9 ^ 9' | bc > /dev/null

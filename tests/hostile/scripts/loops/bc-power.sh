# A power beyond all numbers: bc says that it cannot.
# status: failed
# error: exit

echo '9 ^ 9 ^ 9' | bc > /dev/null

# An endless loop in bc.
# status: limited
# error: limit

echo 'while (1) { x = x + 1 }' | bc

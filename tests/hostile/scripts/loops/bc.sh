# An endless loop in another language.
# status: limited
# error: limit

echo 'while (1) { x = x + 1 }' | bc

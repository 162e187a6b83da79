# A loop in a language that this bc does not have.
# status: failed
# error: exit

echo 'while (1) { x = x + 1 }' | bc

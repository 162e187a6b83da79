# Reversal of endless input.
# status: limited
# error: limit

yes | tac | head -n 1

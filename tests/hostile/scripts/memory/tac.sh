# Turning round what does not end.
# status: limited
# error: limit

yes | tac | head -n 1

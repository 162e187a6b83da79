# Sorting of endless input.
# status: limited
# error: limit

yes | sort | head -n 1

# Sorting what does not end.
# status: limited
# error: limit

yes | sort | head -n 1

# A command for each of endless lines.
# status: limited
# error: limit

yes | xargs -n 1 true

# Translation of endless input.
# status: limited
# error: limit

yes | tr y n > /dev/null

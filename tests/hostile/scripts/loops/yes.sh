# A stream without an end that nobody keeps.
# status: limited
# error: limit

yes > /dev/null

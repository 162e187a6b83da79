# Encoding of endless input.
# status: limited
# error: limit

yes | base64 -w 0 | tail -c 1

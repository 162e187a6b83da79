# A brace expansion to a billion words, which exceeds the memory, so that no command begins.
# status: failed
# error: exception
# message contains: brace range too large

echo {1..1000000000} | wc -w

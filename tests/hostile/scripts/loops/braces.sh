# A billion words by braces: no memory holds them, and nothing begins.
# status: failed
# error: exception
# message contains: brace range too large

echo {1..1000000000} | wc -w

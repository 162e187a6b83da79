# A power beyond any number: it wraps, as in bash, or is an error.
# status: completed

echo $((3 ** 4000000000)) > /dev/null; echo on

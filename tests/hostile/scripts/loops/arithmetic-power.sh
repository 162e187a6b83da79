# A power beyond the range of integers. It wraps, as in bash, or is an error.
# status: completed

echo $((3 ** 4000000000)) > /dev/null; echo on

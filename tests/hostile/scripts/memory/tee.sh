# A stream into many files.
# status: limited
# error: limit

yes | tee a b c d > /dev/null

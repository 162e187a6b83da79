# A stream that is copied to many files.
# status: limited
# error: limit

yes | tee a b c d > /dev/null

# A loop over a stream without an end.
# status: limited
# error: limit

yes | while read -r line; do :; done

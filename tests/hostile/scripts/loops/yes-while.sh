# A loop over an endless stream.
# status: limited
# error: limit

yes | while read -r line; do :; done

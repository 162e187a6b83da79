# Translating what does not end, for nobody.
# status: limited
# error: limit

yes | tr y n > /dev/null

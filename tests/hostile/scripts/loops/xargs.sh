# A command for each of endlessly many lines.
# status: limited
# error: limit

yes | xargs -n 1 true

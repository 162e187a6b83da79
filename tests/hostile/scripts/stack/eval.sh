# Nested evaluations.
# status: limited
# error: limit

x='eval "$x"'
eval "$x"

# Text that evaluates itself.
# status: limited
# error: limit

x='eval "$x"'
eval "$x"

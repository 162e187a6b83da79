# The fork bomb: each function runs itself twice.
# status: limited
# error: limit

:(){ :|:& };:

# A fork bomb of functions, each of which runs itself twice.
# status: limited
# error: limit

:(){ :|:& };:

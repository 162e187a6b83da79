# An endless command substitution.
# status: limited
# error: limit

x=$(yes)

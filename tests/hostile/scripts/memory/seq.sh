# A sequence in a variable.
# status: limited
# error: limit

x=$(seq 100000000)

# A sequence that is stored in a variable.
# status: limited
# error: limit

x=$(seq 100000000)

# The output of an inner script counts as output of the outer one.
# status: limited
# error: limit

node -e 'for (;;) console.log("x".repeat(1023))'

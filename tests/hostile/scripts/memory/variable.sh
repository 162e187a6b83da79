# A variable that doubles. Earlier output is kept.
# status: limited
# error: limit
# stdout: "before\n"

echo before
x=x
while :; do x=$x$x; done

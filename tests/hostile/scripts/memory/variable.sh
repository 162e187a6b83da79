# A variable that doubles; what was written before is kept.
# status: limited
# error: limit
# stdout: "before\n"

echo before
x=x
while :; do x=$x$x; done

# Variables that refer to each other in arithmetic.
# status: failed
# error: exit

a=b+1; b=c+1; c=a+1
echo $((a))

# A variable whose value is its own name.
# status: failed
# error: exit

x=x
echo $((x))

# The same into a variable.
# status: completed
# stdout: "0\n"

printf -v x '%2000000000d' 1
echo ${#x}

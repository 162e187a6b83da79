# A width beyond any memory in `printf -v`, which is an error of printf.
# status: completed
# stdout: "0\n"

printf -v x '%2000000000d' 1
echo ${#x}

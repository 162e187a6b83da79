# A width beyond any memory, which is an error of printf.
# status: completed
# stdout: "0\n"

printf '%*s' 2000000000 x | wc -c

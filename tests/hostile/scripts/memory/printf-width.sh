# A width beyond any memory: an error of printf's.
# status: completed
# stdout: "0\n"

printf '%*s' 2000000000 x | wc -c

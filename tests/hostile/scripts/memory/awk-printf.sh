# A width in awk beyond any memory, which is an error of awk.
# status: completed
# stdout: "0\n"

awk 'BEGIN { printf "%2000000000d\n", 1 }' | wc -c

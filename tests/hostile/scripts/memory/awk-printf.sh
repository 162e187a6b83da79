# A width of awk's beyond any memory: an error of awk's.
# status: completed
# stdout: "0\n"

awk 'BEGIN { printf "%2000000000d\n", 1 }' | wc -c

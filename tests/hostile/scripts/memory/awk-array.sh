# An endless array in awk.
# status: failed
# error: exit

awk 'BEGIN { while (1) a[n++] = sprintf("%1000d", n) }'

# An array of awk's without an end.
# status: failed
# error: exit

awk 'BEGIN { while (1) a[n++] = sprintf("%1000d", n) }'

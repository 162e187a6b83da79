# An endless file. The disk is full, and the script continues.
# status: completed
# stdout: "fits\n"
# limits: memory = "64MiB"

yes > f 2> /dev/null
rm f
echo fits > g; cat g

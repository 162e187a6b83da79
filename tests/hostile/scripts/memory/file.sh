# A file without an end: the disk is full, and the script goes on.
# status: completed
# stdout: "fits\n"
# limits: memory = "64MiB"

yes > f 2> /dev/null
rm f
echo fits > g; cat g

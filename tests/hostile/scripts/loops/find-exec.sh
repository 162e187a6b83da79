# Files that are created during their search.
# status: limited
# error: limit
# limits: wall = "600ms"

find . -exec touch {}x \; 2> /dev/null
while :; do find . -exec true \; ; done

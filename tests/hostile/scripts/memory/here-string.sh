# The same with a here-string.
# status: limited
# error: limit

x=xxxxxxxx
while :; do read -r x <<< "$x$x"; done

# A here-string that doubles.
# status: limited
# error: limit

x=xxxxxxxx
while :; do read -r x <<< "$x$x"; done

# A here-string that repeatedly receives its own text.
# status: limited
# error: limit
# limits: wall = "600ms"

x=a
while :; do x=$(cat <<< "$x"); done

# A document that is fed to itself.
# status: limited
# error: limit
# limits: wall = "600ms"

x=a
while :; do x=$(cat <<< "$x"); done

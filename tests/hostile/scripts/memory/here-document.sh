# A here-document that doubles.
# status: limited
# error: limit

x=$(printf 'x%.0s' {1..1000})
while :; do x=$(cat <<EOF
$x$x
EOF
); done

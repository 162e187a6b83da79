# Arguments that double.
# status: limited
# error: limit

set -- a b c d e f g h
while :; do set -- "$@" "$@"; done

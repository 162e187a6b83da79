# Arguments whose number doubles.
# status: limited
# error: limit

set -- a b c d e f g h
while :; do set -- "$@" "$@"; done

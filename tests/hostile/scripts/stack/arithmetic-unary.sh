# Many signs.
# status: failed

eval "echo \$(($(printf -- '- %.0s' {1..50000})1))"

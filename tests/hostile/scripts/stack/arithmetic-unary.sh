# Many signs.
# status: completed

eval "echo \$(($(printf -- '- %.0s' {1..50000})1))"

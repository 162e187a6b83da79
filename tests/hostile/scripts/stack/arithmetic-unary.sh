# Many signs in arithmetic.
# status: failed

eval "echo \$(($(printf -- '- %.0s' {1..50000})1))"

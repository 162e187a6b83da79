# Source text of nested parentheses in arithmetic.
# status: failed

eval "echo \$(($(printf '(%.0s' {1..20000})1$(printf ')%.0s' {1..20000})))"

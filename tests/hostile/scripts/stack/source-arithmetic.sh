# A source of nested parentheses in arithmetic.
# status: completed
# stdout: "1\n"

eval "echo \$(($(printf '(%.0s' {1..20000})1$(printf ')%.0s' {1..20000})))"

# Parentheses of awk's.
# status: completed
# stdout: "1\n"

awk "BEGIN { print $(printf '(%.0s' {1..20000})1$(printf ')%.0s' {1..20000}) }"

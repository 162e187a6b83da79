# Nested parentheses in awk.
# status: failed

awk "BEGIN { print $(printf '(%.0s' {1..20000})1$(printf ')%.0s' {1..20000}) }"

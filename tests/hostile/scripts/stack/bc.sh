# Nested parentheses in bc.
# status: completed

echo "$(printf '(%.0s' {1..20000})1$(printf ')%.0s' {1..20000})" | bc

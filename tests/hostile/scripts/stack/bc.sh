# Parentheses of bc's.
# status: completed
# stdout: "1\n"

echo "$(printf '(%.0s' {1..20000})1$(printf ')%.0s' {1..20000})" | bc

# Nested brace expansions.
# status: failed

eval "echo $(printf '{a,%.0s' {1..5000})b$(printf '}%.0s' {1..5000})" > /dev/null

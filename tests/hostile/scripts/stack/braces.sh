# Braces in braces.
# status: completed

eval "echo $(printf '{a,%.0s' {1..5000})b$(printf '}%.0s' {1..5000})" > /dev/null

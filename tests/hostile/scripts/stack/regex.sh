# Nested groups in a regular expression.
# status: completed

[[ a =~ $(printf '(%.0s' {1..5000})a$(printf ')%.0s' {1..5000}) ]]
echo $?

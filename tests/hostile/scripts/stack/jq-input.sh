# Input of jq's that nests.
# status: failed

printf '[%.0s' {1..20000} | jq . > /dev/null

# Nested input of jq.
# status: failed

printf '[%.0s' {1..20000} | jq . > /dev/null

# A stream of jq's without an end.
# status: limited
# error: limit

jq -n '[repeat(1)] | length'

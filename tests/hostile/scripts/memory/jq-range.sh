# A list of jq's without an end.
# status: limited
# error: limit

jq -n '[range(1000000000)] | length'

# An endless list in jq.
# status: limited
# error: limit

jq -n '[range(1000000000)] | length'

# An endless stream in jq.
# status: limited
# error: limit

jq -n '[repeat(1)] | length'

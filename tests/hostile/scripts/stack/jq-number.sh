# A number of jq's beyond all numbers: issue 5.
# status: completed

jq -n '1e1000'

# A number in jq beyond the range of numbers (issue 5).
# status: completed

jq -n '1e1000'

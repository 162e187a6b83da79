# A text in jq that is multiplied.
# status: failed
# error: exit

jq -n '"xxxxxxxxxx" * 1000000000 | length'

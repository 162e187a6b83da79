# A value in jq that doubles.
# status: limited
# error: limit

jq -n 'reduce range(60) as $_ ([0]; . + .) | length'

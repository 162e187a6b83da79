# A value of jq's that doubles.
# status: failed
# error: exit

jq -n 'reduce range(60) as $_ ([0]; . + .) | length'

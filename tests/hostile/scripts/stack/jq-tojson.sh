# A value of jq's, ten thousand deep, as text and back: issue 5.
# status: limited
# error: limit
# message contains: stack

jq -n 'reduce range(10000) as $_ ([];[.]) | tojson | fromjson'

# A value of jq's, ten thousand deep, as text and back: issue 5. It ends at the stack, or at the memory first.
# status: limited
# error: limit
# message contains: limit

jq -n 'reduce range(10000) as $_ ([];[.]) | tojson | fromjson'

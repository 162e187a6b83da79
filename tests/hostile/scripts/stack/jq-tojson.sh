# A value of jq's, ten thousand deep, as text and back: issue 5. It is taken apart without recursion.
# status: completed
# stdout: "20000\n"

jq -n 'reduce range(9999) as $_ ([];[.]) | tojson | fromjson | tojson | length'

# A value in jq with a depth of ten thousand, converted to text and back (issue 5). It is dropped without recursion.
# status: completed
# stdout: "20000\n"

jq -n 'reduce range(9999) as $_ ([];[.]) | tojson | fromjson | tojson | length'

# Repeated keys in JSON, which are refused as ambiguous.
# status: completed
# stdout: "1\n"
# calls: denied

mirror show --json '{"to": "a", "amount": 5, "amount": 5000}' > /dev/null 2>&1
echo $(($? != 0))

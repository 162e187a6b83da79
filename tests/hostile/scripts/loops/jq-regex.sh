# `test` does not go back: it answers at once.
# status: completed
# stdout: "false\n"

jq -n '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab" | test("^(a+)+$")'

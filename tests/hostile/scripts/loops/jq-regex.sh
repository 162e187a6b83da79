# A regular expression in jq, which is matched without backtracking and therefore at once.
# status: completed
# stdout: "false\n"

jq -n '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab" | test("^(a+)+$")'

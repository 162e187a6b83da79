# A substitution in sed that always matches. sed stops after a thousand, with a message.
# status: completed
# stdout: "a\n"
# limits: wall = "600ms"

echo a | sed ':a;s/a/a/;ta'

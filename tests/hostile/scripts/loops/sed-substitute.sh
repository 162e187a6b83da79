# A substitution that always finds something: sed gives up after a thousand, and says so.
# status: completed
# stdout: "a\n"
# limits: wall = "600ms"

echo a | sed ':a;s/a/a/;ta'

# A jump to itself: sed gives up after a thousand, and says so.
# status: completed
# stdout: "a\n"
# limits: wall = "600ms"

echo a | sed ':a;ba'

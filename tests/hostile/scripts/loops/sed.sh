# A jump in sed to itself. sed stops after a thousand, with a message.
# status: completed
# stdout: "a\n"
# limits: wall = "600ms"

echo a | sed ':a;ba'

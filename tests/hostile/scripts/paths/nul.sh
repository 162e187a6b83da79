# A NUL in a name ends the name, as in bash.
# status: completed
# stdout: "a\ndata\n"

touch $'a\0b'; ls

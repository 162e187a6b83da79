# The same in the shell, where no text holds one.
# status: completed
# stdout: "a\ndata\n"

touch $'a\0b'; ls

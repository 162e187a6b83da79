# An exit status with a special meaning in the CLI, from the shell.
# status: failed
# error: exit
# exit: 4

exit 260

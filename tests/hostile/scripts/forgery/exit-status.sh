# The same in the shell.
# status: failed
# error: exit
# exit: 4

exit 260

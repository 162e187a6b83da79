# The exit status of a cancelled run, which counts as that of a failed run.
# status: failed
# error: exit
# exit: 130

exit 130

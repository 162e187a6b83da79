# A status that would be that of a cancelled run: it is a failed one.
# status: failed
# error: exit
# exit: 130

exit 130

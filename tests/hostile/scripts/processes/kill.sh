# `kill` only affects the script itself, since there are no other processes.
# status: failed
# error: exit
# exit: 137

kill -9 1 2> /dev/null; kill -9 -1 2> /dev/null; kill -9 $PPID 2> /dev/null; echo on

# The environment of the host is not accessible in the shell.
# status: completed

env | grep -ci -e cargo -e rust -e xdg -e token; hostname; whoami > /dev/null; id -u > /dev/null; echo on

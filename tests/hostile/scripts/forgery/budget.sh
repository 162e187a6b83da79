# A budget of two calls, used by jobs of the shell. It admits exactly two.
# status: completed
# stdout: "ok\nok\n"

for i in 1 2 3 4 5; do limited remember > /dev/null 2>&1 && echo ok & done; wait

# Removing everything leaves a usable session.
# status: completed
# stdout: "on\ngiven\n"

cd /; rm -rf --no-preserve-root / 2> /dev/null; rm -rf /workspace /tmp 2> /dev/null; cd /workspace && echo on > f && cat f data/given

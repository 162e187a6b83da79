# A stream without an end, of which two lines are wanted: it ends.
# status: completed
# stdout: "y\ny\n"

yes | head -n 2

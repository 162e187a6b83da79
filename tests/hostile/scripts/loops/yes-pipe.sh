# An endless stream whose reader takes two lines, so that it ends.
# status: completed
# stdout: "y\ny\n"

yes | head -n 2

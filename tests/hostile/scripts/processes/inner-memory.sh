# An inner JavaScript script that exceeds its memory. The outer shell gets a status, and continues.
# status: completed
# stdout: "status 137\n"

node -e 'const all = []; for (;;) all.push(new Array(1000).fill(1))'
echo "status $?"

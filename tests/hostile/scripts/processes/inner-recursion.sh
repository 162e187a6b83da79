# An inner script that throws an error ends with a status, like any program.
# status: completed
# stdout: "status 1\n"

node -e 'const f = () => f(); f()' 2> /dev/null
echo "status $?"

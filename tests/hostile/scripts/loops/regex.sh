# `=~` does not go back: it answers at once.
# status: completed
# stdout: "1\n"

[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab =~ ^(a+)+$ ]]
echo $?

# A regular expression of `=~`, which is matched without backtracking and therefore at once.
# status: completed
# stdout: "1\n"

[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab =~ ^(a+)+$ ]]
echo $?

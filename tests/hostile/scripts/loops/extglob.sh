# A pattern that goes back without end.
# status: completed
# stdout: "1\n"

shopt -s extglob
[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac == +(+(+(a)))b ]]
echo $?

# A pattern with endless backtracking.
# status: completed
# stdout: "1\n"

shopt -s extglob
[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac == +(+(+(a)))b ]]
echo $?

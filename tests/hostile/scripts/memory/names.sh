# A name and a path that are too long.
# status: completed
# stdout: "1\n1\n"

x=$(printf 'x%.0s' {1..300})
: > $x; echo $?
mkdir -p $(printf 'd/%.0s' {1..3000}); echo $((${?} != 0))

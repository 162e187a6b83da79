# Repeated negations in a condition.
# status: completed
# stdout: "done\n"

eval "[[ $(printf '! %.0s' {1..20000}) a ]]"; echo done

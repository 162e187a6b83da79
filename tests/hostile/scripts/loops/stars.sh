# A pattern with many stars.
# status: completed
# stdout: "no\n"

s=$(printf 'a%.0s' {1..5000})
case $s in *a*a*a*a*a*a*a*a*a*a*a*a*b) echo yes;; *) echo no;; esac

# Nested patterns, which are an error beyond a depth.
# status: failed
# error: exit

shopt -s extglob
eval "case a in $(printf '@(%.0s' {1..5000})a$(printf ')%.0s' {1..5000})) echo yes;; esac"

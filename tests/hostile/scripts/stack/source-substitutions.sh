# Source text of nested command substitutions.
# status: failed

eval "$(printf 'echo $(%.0s' {1..5000})$(printf ')%.0s' {1..5000})"

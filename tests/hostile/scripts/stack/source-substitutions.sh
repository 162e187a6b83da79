# Source text of nested command substitutions.
# status: limited

eval "$(printf 'echo $(%.0s' {1..5000})$(printf ')%.0s' {1..5000})"

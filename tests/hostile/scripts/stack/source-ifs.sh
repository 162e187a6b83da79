# Source text of nested `if` statements.
# status: failed

eval "$(printf 'if :; then %.0s' {1..3000}):;$(printf ' fi;%.0s' {1..3000})"

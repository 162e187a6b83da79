# Source text of nested groups.
# status: failed

eval "$(printf '{ %.0s' {1..5000}):;$(printf ' };%.0s' {1..5000})"

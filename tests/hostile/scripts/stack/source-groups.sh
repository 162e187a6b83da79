# A source of groups in groups.
# status: failed

eval "$(printf '{ %.0s' {1..5000}):;$(printf ' };%.0s' {1..5000})"

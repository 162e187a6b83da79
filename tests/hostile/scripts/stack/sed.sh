# Nested groups in sed.
# status: failed

echo a | sed -E "s/$(printf '(%.0s' {1..5000})a$(printf ')%.0s' {1..5000})/b/"

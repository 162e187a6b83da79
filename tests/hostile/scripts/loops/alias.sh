# Aliases that refer to each other endlessly.
# status: limited
# error: limit

shopt -s expand_aliases
alias a=b b=a
eval a

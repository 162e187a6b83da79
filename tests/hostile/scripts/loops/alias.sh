# Aliases that name each other, for ever.
# status: limited
# error: limit

shopt -s expand_aliases
alias a=b b=a
eval a

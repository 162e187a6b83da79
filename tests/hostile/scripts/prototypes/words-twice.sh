# An option that is given twice.
# status: completed

mirror show --to a --amount 5 --amount 5000 > /dev/null 2>&1
echo $?

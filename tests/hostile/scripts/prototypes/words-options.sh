# Values that look like options are refused, and nothing is called.
# status: failed
# error: exit
# calls: 

mirror show --to --amount --amount 5 > /dev/null 2>&1; echo $?
mirror show --to '--amount 5000' --amount 5

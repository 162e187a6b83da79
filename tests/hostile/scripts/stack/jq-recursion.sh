# A recursive function in jq (issue 5). Its frames are in memory, not on the stack.
# status: limited
# error: limit
# message contains: limit

jq -n 'def f: 1 + f; f'

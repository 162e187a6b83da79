# A function of jq's that calls itself: issue 5.
# status: limited
# error: limit
# message contains: stack

jq -n 'def f: 1 + f; f'

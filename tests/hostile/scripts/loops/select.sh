# A menu without an answer.
# status: completed

select x in a b; do :; done < /dev/null; echo on

# A menu that nobody answers.
# status: completed

select x in a b; do :; done < /dev/null; echo on

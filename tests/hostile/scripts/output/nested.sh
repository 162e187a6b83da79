# What an inner script writes counts where it goes to.
# status: limited
# error: limit

node -e 'for (;;) console.log("x".repeat(1023))'

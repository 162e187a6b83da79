"""Drop-in modules for programs that were written for another sandbox."""

"""Parts of the drop-in that no program imports."""

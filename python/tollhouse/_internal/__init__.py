"""Parts of the package that no program imports."""

"""Python types as JSON: the schema of a type, the reader of its values and the writer of them."""

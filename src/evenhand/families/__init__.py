"""One folder per published family: what is asked, how it is scored, what is said about it."""

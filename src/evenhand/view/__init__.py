"""A folder of runs in a browser: what lies in it, and a server that only reads."""

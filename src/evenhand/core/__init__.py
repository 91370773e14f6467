"""Which types, names and errors do all parts share?"""

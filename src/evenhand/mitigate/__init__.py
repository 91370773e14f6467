"""Can a model be made fairer, and what does it cost?"""

"""How do probes reach a respondent, and how do answers become estimates?"""

"""People as respondents: their scores, how far they agree, and how models compare with them."""

"""Gates: policies of limits that a model must keep, and their judgement by intervals."""

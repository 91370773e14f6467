"""How are people asked the same questions as models? Studies, questions, scores, storage and the web pages of a study."""

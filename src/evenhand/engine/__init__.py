"""The engine: asking respondents, and turning their answers into estimates."""

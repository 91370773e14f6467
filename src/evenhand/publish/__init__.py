"""Runs and suites in the forms in which others take them: cards, exports, tables, citations."""

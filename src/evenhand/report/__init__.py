"""How is a run told? In the terminal, as HTML, Markdown, LaTeX and JSON, all from the same numbers and sentences."""

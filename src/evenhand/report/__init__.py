"""A document as HTML, Markdown, LaTeX and terminal text, and charts as pictures."""

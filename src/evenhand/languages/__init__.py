"""What must be known of a language to write probes in it: one file per language."""

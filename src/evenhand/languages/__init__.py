"""What must be known of a language to write probes in it? One file per language."""

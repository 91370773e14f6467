"""Who is asked? One file per kind of respondent."""

"""Which questions are asked? One file per suite."""

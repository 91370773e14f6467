"""Published numbers beside the same numbers computed here: one file per paper."""

"""Do published numbers come out again? One file per paper: the numbers as printed beside the numbers as computed here."""

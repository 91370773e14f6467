"""What can be typed? One file per verb."""

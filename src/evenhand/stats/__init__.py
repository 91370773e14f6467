"""How sure can one be? Intervals, tests and correlations on what the measures sum up."""

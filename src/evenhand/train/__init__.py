"""How is a classifier trained? Recipes, the loop and the export; torch and transformers (extra `train`) only here and in respondents."""

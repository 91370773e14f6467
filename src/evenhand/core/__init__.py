"""Records, protocols, catalog and documents that all rooms share."""

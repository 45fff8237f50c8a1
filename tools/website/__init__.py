"""Pages of the site that are made of the code: sources, differences, the reference, the search."""

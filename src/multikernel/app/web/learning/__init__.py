"""What a run is: a recipe, and what learning by it finds."""

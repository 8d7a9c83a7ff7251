"""Charts as inline SVG, whose marks tell their exact values to pointer, keyboard and screen reader."""

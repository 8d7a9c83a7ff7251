"""The browser application: a local page to load a table, learn a kernel, look, and take the model home."""

"""The commands, one file each. Libraries that take long to import are imported in them, so that --help is quick."""

"""A person's own table: from a file to samples."""

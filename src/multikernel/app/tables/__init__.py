"""Tables of the user: from files to samples."""

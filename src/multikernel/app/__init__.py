"""The command line, the browser application and reports; the libraries that they need are the ``app`` extra."""

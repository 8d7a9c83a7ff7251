"""The command line and its report. Nothing imports this room; its libraries are the ``app`` extra."""

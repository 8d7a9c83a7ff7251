"""The applications. Nothing imports this room; its libraries are the ``app`` extra."""

"""What a reader gets to see instead of a traceback."""


class LearnError(Exception):
    """Says in a line or two what is wrong and what to do."""

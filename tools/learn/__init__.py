"""What ./learn hands over to."""

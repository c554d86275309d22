"""What is known about an interview at one moment, as named values in pools."""

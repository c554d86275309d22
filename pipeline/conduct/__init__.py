"""What the interviewer does when a message is more, or something else, than an answer."""

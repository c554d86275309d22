"""Live views of sessions for moderators, on whichever node a session runs, and moderators' commands."""

"""What developers run and nobody installs: the lock files, the bill of materials."""

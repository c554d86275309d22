"""The respondent pages: static assets, no Python."""

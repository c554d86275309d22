"""Connections below the application: what one client may cost before anybody knows who it is."""

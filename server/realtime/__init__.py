"""Speaks the events of OpenAI's Realtime API for a respondent's session: formats and translation, without a socket."""

"""Spoken answers: from audio frames or uploaded recordings to turns.

`engine` loads the speech models once per process; `Listeners.of(owner)` gives the `Listening` of a session, which takes
the frames that its respondent sends, hears one `SpokenAnswer` after another and hands each to `SpokenTurns`. A session
whose respondent only types never gets here.
"""

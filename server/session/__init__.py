"""Sessions that live on this node: who owns them, what may be done in which state, and the respondent's socket.

How to put it together (`server/wiring.py`)::

    hub = Hub(
        hot=HotStore, snapshots=Repository, configurations=Repository, pipeline=TurnPipeline,
        settings=HubSettings(...), observe=lambda measure: metrics.turn(...),
    )
    async with hub:      # owns every session task; leaving it drains: running turns finish, sockets close with 1012
        Starlette(routes=[respondent_route(hub, authenticate, SocketSettings(...)), ...])

How to use it (`server/api`)::

    state  = await hub.create(NewSession(session_id, configuration, config_hash, language, seed, ...))
    owner  = await hub.attach(session_id)                 # claims, rebuilds if cold; raises SessionProblem, HotError
    await owner.consent(version, choices)
    await owner.start()                                   # the opening question, made once
    receipt = await owner.submit(Answer(turn_key, text))  # waits until committed; .result is the public view, a dict
    owner.state                                           # InterviewState after the last commit
    await owner.skip(turn_key) / .correct(utterance_id, text, turn_key) / .rephrase()
    await owner.pause() / .resume() / .finish() / .change_settings({...})
    await hub.erase(session_id)                           # also `withdraw`
    await hub.command(session_id, command, who="name")    # a command of server.protocol.moderator, from any node
    authenticate: async (token) -> session id, or None

`SessionProblem(code, message, retryable)` is every refusal; `code` is a wire code. Storage's own errors (`HotError`,
`StoreError`) pass through; `problems.problem_of` turns any error into a `SessionProblem`.
"""

"""Sessions that live on this node: who owns them, what may be done in which state, and how that becomes true.

How to put it together (`server/wiring.py`)::

    hub = Hub(SessionServices(hot=HotStore, store=Repository, pipeline_of=..., settings=HubSettings(...), ...))
    async with hub:      # owns every session task; leaving it drains: running turns finish, sockets close with 1012
        ...

How to use it (`server/api`, `server/sockets`)::

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

How an answer becomes true: `Turns.begin` queues it, `TurnRunner` accepts it (`Ledger.accept`), runs the pipeline and
commits (`SessionContext.commit`, the only way in which a state changes). `SessionContext.observers` are told what
happens, as events of `server.session.events`.

`SessionProblem(code, message, retryable)` is every refusal; `code` is a wire code. Storage's own errors (`HotError`,
`StoreError`) pass through; `problems.problem_of` turns any error into a `SessionProblem`.
"""

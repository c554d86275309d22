"""Clients of language models over HTTP.

Clients              all clients of a process, with the pools and circuit breakers that they share
└── HttpChatClient   the client of one role: deadlines, the one retry, streams
    ├── formats      anthropic, openai_compatible: requests and answers as bytes, without input or output
    ├── tries        one try, whole or streamed
    ├── transport    requests over pools of connections; the only module that imports the HTTP library
    ├── faults       why a try failed, with the setting to look at
    └── recorder     log lines, tokens and cost of every try
"""

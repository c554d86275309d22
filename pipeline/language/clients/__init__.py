"""Clients of language models over HTTP.

Clients            what a process has of them: pools, circuit breakers
└── WireClient     one role's model: deadlines, the one retry, streams
    ├── formats    anthropic, openai_compatible: requests and answers as bytes, without input or output
    ├── tries      one try, whole or streamed
    ├── transport  requests over pools; with connections and sockets all that knows the HTTP library
    ├── faults     what went wrong, in words that name the setting to look at
    └── accounts   what it cost
"""

"""The reader: a small trained network that judges what is said.

`encoding` turns a question, its focus and an answer into what the network takes; `network` runs it;
`pipeline.language.training` makes it.
"""

"""Text → knowledge, knowledge → question: providers of the ports."""

"""The knowledge graphs of an interview and what can be measured on them."""

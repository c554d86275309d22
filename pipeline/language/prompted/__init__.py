"""The four language tasks by prompts and validated structured output."""

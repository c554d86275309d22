"""What respondents write is data: attempts to make it more, on what models are sent and what is taken from them."""

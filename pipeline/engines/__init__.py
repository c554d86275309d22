"""Decision engines: given the state after an answer, what do we do next?"""

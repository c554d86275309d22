"""Repertory grids: elements, bipolar constructs elicited by comparing elements, and ratings."""

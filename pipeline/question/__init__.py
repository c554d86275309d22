"""What makes a question acceptable, and how one is phrased: pure rules, no models, no clock, no network."""

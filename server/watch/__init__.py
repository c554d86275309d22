"""What moderators see and do: sessions shown as they happen, on whatever node they live, and commands for them."""

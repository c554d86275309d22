"""What the engines that have a file of their own share; it belongs to none of them."""

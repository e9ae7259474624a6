"""What travels between a server and its clients, in a form that both sides share: names, JSON, values, errors."""

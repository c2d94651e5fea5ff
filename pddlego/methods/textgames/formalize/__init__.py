"""The methods: from a situation to a request, and from the answer to a problem or a command. No game, no network."""

"""The words that stand where a provider wants some and the conversation has none."""

INTERRUPTED = "[interrupted: this tool call has no result]"
"""The content of the error result that closes a call without one."""

BEGINNING = "[the conversation begins here]"
"""What the user says in front of a conversation that the assistant opens, where the user has to be first."""

UNSIGNED = "skip_thought_signature_validator"
"""The signature that Gemini takes for calls that it did not make (https://ai.google.dev/gemini-api/docs/thought-signatures)."""

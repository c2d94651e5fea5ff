"""Whether two domains mean the same: in every state, or in every state that invariants allow."""

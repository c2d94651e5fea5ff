"""Events to a view (a pure fold) to panels. Live, watch and replay show the same panels; a pipe gets plain lines."""

//! Edges of the server.

/** The codes that a relay closes a session with (`crates/wire/src/relay.rs`). */
export const UNAUTHORIZED = 0x0002;
export const EDGE_FULL = 0x5746;
export const TOKEN_IN_USE = 0x5747;
export const SCOPE_FULL = 0x5748;
export const REMOVED = 0x5749;
export const TOKEN_EXPIRED = 0x574c;

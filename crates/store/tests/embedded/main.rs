//! The embedded store, from outside: what it answers, what it keeps, and what it does when it cannot.

fn main() {}

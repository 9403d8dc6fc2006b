//! How many connections there are, of whom: bounds that hold before anybody is known.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// The open connections by address.
#[derive(Debug)]
pub struct Crowd {
    max: usize,
    per_address: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// A counted connection; it counts until this is dropped.
#[derive(Debug)]
pub struct Counted {
    crowd: Arc<Crowd>,
    address: IpAddr,
}

impl Crowd {
    /// Nobody yet; at most this many of all, and of one address (IPv6: /64).
    #[must_use]
    pub fn new(max: usize, per_address: usize) -> Arc<Self> {
        Arc::new(Self { max, per_address, open: Mutex::default() })
    }

    /// Counts a connection, unless there are too many.
    pub fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Counted> {
        let address = counted_as(address);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let here = open.by_address.get(&address).copied().unwrap_or(0);
        if open.all >= self.max || here >= self.per_address {
            return None;
        }
        open.all += 1;
        open.by_address.insert(address, here + 1);
        Some(Counted { crowd: Arc::clone(self), address })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut open = self.crowd.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.all -= 1;
        if let Some(here) = open.by_address.get_mut(&self.address) {
            *here -= 1;
            if *here == 0 {
                open.by_address.remove(&self.address);
            }
        }
    }
}

/// An IPv6 host has a whole /64.
fn counted_as(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_bounded_for_all_and_for_one_address() {
        let crowd = Crowd::new(3, 2);
        let [a, b] = ["10.0.0.1", "10.0.0.2"].map(|address| address.parse().unwrap());
        let first = crowd.enter(a).unwrap();
        let _second = crowd.enter(a).unwrap();
        assert!(crowd.enter(a).is_none());
        let _third = crowd.enter(b).unwrap();
        assert!(crowd.enter(b).is_none(), "three are all");
        drop(first);
        assert!(crowd.enter(a).is_some());
        assert_eq!(crowd.open.lock().unwrap().by_address.len(), 2, "nobody is remembered");
    }

    #[test]
    fn an_ipv6_network_is_one_address() {
        let crowd = Crowd::new(10, 1);
        let _one = crowd.enter("2001:db8::1".parse().unwrap()).unwrap();
        assert!(crowd.enter("2001:db8::ffff:1".parse().unwrap()).is_none());
        assert!(crowd.enter("2001:db8:0:1::1".parse().unwrap()).is_some());
        let _mapped = crowd.enter("::ffff:10.0.0.1".parse().unwrap()).unwrap();
        assert!(crowd.enter("10.0.0.1".parse().unwrap()).is_none());
    }
}

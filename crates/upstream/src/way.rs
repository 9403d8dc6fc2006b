//! One configured upstream: its desk, and the client that reaches it.

use std::sync::Arc;
#[cfg(feature = "proxy")]
use std::sync::{PoisonError, RwLock};

use tidegate_gate::UpstreamSettings;

use crate::desk::Desk;
#[cfg(feature = "proxy")]
use crate::outlet::{Outlet, OutletError};

/// One way out.
pub(crate) struct Way {
    pub(crate) desk: Arc<Desk>,
    /// `None` without a `base_url`: such an upstream has no client here.
    #[cfg(feature = "proxy")]
    outlet: RwLock<Option<Arc<Outlet>>>,
}

/// Why an upstream cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// Its name.
    #[error("{name:?} is no name of an upstream: use 1 to 64 letters, digits, '-', '_' and '.'")]
    Name {
        /// The name.
        name: String,
    },
    /// What it is reached by.
    #[cfg(feature = "proxy")]
    #[error("upstream {name}: {error}")]
    Outlet {
        /// The upstream.
        name: String,
        /// What is wrong.
        #[source]
        error: OutletError,
    },
}

/// What new settings need before they are taken.
pub(crate) struct Prepared {
    #[cfg(feature = "proxy")]
    outlet: Option<Arc<Outlet>>,
}

impl Way {
    pub(crate) fn new(name: Arc<str>, settings: UpstreamSettings) -> Result<Arc<Self>, SetupError> {
        check_name(&name)?;
        let desk = Desk::new(name, settings.clone());
        let way = Self {
            desk,
            #[cfg(feature = "proxy")]
            outlet: RwLock::default(),
        };
        let prepared = way.prepare(&settings)?;
        way.put(prepared);
        Ok(Arc::new(way))
    }

    /// Whether [`Way::new`] would take these.
    pub(crate) fn check(name: &str, settings: &UpstreamSettings) -> Result<(), SetupError> {
        check_name(name)?;
        prepare(name, settings, None).map(drop)
    }

    /// Takes new settings that were prepared.
    pub(crate) fn change(&self, prepared: Prepared, settings: UpstreamSettings) {
        self.desk.set_settings(settings);
        self.put(prepared);
    }

    pub(crate) fn prepare(&self, settings: &UpstreamSettings) -> Result<Prepared, SetupError> {
        #[cfg(feature = "proxy")]
        let before = self.outlet();
        #[cfg(not(feature = "proxy"))]
        let before = None;
        prepare(self.desk.name(), settings, before)
    }

    #[cfg(feature = "proxy")]
    pub(crate) fn outlet(&self) -> Option<Arc<Outlet>> {
        self.outlet.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Closes connections that nobody will use.
    #[cfg(feature = "proxy")]
    pub(crate) fn tidy(&self) {
        self.outlet().iter().for_each(|outlet| outlet.tidy());
    }

    #[cfg(feature = "proxy")]
    fn put(&self, prepared: Prepared) {
        *self.outlet.write().unwrap_or_else(PoisonError::into_inner) = prepared.outlet;
    }

    #[cfg(not(feature = "proxy"))]
    fn put(&self, _prepared: Prepared) {}
}

/// A name is a part of paths and a label of metrics; `.` and `..` would be steps of a path.
fn check_name(name: &str) -> Result<(), SetupError> {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let dots = name.bytes().all(|byte| byte == b'.');
    if (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(good) && !dots {
        return Ok(());
    }
    Err(SetupError::Name { name: name.to_owned() })
}

#[cfg(feature = "proxy")]
fn prepare(name: &str, settings: &UpstreamSettings, before: Option<Arc<Outlet>>) -> Result<Prepared, SetupError> {
    let outlet = Outlet::of(settings, before);
    let outlet = outlet.map_err(|error| SetupError::Outlet { name: name.to_owned(), error })?;
    Ok(Prepared { outlet })
}

#[cfg(not(feature = "proxy"))]
fn prepare(_name: &str, _settings: &UpstreamSettings, _before: Option<()>) -> Result<Prepared, SetupError> {
    Ok(Prepared {})
}

/// The longest name, in bytes.
const NAME_MAX: usize = 64;

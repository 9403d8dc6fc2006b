//! The captures in `fixtures/youtube`.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_chat::event::Event;
use tidegate_chat::youtube::Region;

/// All captured files, by name, in order.
pub(crate) fn all() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    walk(&root(), &mut files);
    files.sort();
    assert!(files.len() > 60, "only {} captures", files.len());
    let name = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), std::fs::read(path).unwrap())).collect()
}

pub(crate) fn bytes(name: &str) -> Vec<u8> {
    let path = root().join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn json(name: &str) -> Value {
    serde_json::from_slice(&bytes(name)).unwrap()
}

pub(crate) fn decoded(name: &str) -> Vec<Event> {
    tidegate_chat::decode(&bytes(name), Region::UnitedStates).unwrap()
}

/// The only event of a capture.
pub(crate) fn one(name: &str) -> Event {
    let events = decoded(name);
    assert_eq!(events.len(), 1, "{name}: {events:?}");
    events.into_iter().next().unwrap()
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let ending = path.extension().unwrap_or_default().to_owned();
        if path.is_dir() {
            walk(&path, files);
        } else if ending == "json" || ending == "html" {
            files.push(path);
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/youtube")
}

//! The house rules that no compiler checks: who may call whom, what a pure crate may pull in, how long a file may be.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Which of our crates each of them may name, as ARCHITECTURE.md draws it.
const ARROWS: &[(&str, &[&str])] = &[
    ("tidegate-seats", &[]),
    ("tidegate-gate", &[]),
    ("tidegate-edge", &[]),
    ("tidegate-token", &[]),
    ("tidegate-wire", &["tidegate-seats"]),
    ("tidegate-store", &["tidegate-seats", "tidegate-gate"]),
    (
        "tidegate-control",
        &["tidegate-chat", "tidegate-edge", "tidegate-seats", "tidegate-store", "tidegate-token", "tidegate-wire"],
    ),
    ("tidegate-upstream", &["tidegate-gate", "tidegate-store"]),
    ("tidegate-chat", &["tidegate-upstream"]),
    ("tidegate-relay", &["tidegate-edge", "tidegate-token", "tidegate-wire"]),
    (
        "tidegate",
        &[
            "tidegate-chat",
            "tidegate-control",
            "tidegate-gate",
            "tidegate-relay",
            "tidegate-seats",
            "tidegate-store",
            "tidegate-token",
            "tidegate-upstream",
            "tidegate-wire",
            // The demo's chat is told by the stand-in that the tests have.
            "tidegate-youtube",
        ],
    ),
    (
        "tidegate-bench",
        &[
            "tidegate-chat",
            "tidegate-control",
            "tidegate-store",
            "tidegate-token",
            "tidegate-upstream",
            "tidegate-youtube",
        ],
    ),
    ("tidegate-tests", &[]),
    ("tidegate-upstreams", &[]),
    ("tidegate-youtube", &[]),
];

/// Crates that decide and never wait, open a socket or read a clock.
const PURE: &[&str] = &["tidegate-seats", "tidegate-gate", "tidegate-edge", "tidegate-token", "tidegate-wire"];
/// What a pure crate must not bring in, however far down.
const NOT_PURE: &[&str] = &["tokio", "hyper", "axum", "rusqlite", "redis", "reqwest", "mio"];
/// A file of one noun stays below this.
const LONGEST_FILE: usize = 600;

#[test]
fn arrows_point_one_way() {
    let arrows: BTreeMap<&str, BTreeSet<&str>> =
        ARROWS.iter().map(|(from, to)| (*from, to.iter().copied().collect())).collect();
    for package in members() {
        let name = package["name"].as_str().unwrap();
        let allowed = arrows.get(name).unwrap_or_else(|| panic!("{name} has no line in ARROWS: say whom it may call"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let to = dependency["name"].as_str().unwrap();
            let ships = dependency["kind"].is_null();
            assert!(!ships || !to.starts_with("tidegate") || allowed.contains(to), "{name} may not call {to}");
        }
    }
}

#[test]
fn pure_crates_bring_in_nothing_that_waits() {
    for pure in PURE {
        let tree = cargo(&["tree", "-p", pure, "--edges", "normal", "--prefix", "none", "--format", "{p}"]);
        for line in tree.lines() {
            let name = line.split_whitespace().next().unwrap_or_default();
            assert!(!NOT_PURE.contains(&name), "{pure} brings in {name}");
        }
    }
}

#[test]
fn pure_crates_read_no_clock_and_draw_no_lots() {
    for file in rust_files() {
        let pure = PURE
            .iter()
            .any(|name| file.starts_with(root().join("crates").join(name.trim_start_matches("tidegate-")).join("src")));
        if pure {
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            for forbidden in ["Instant::now", "SystemTime::now", "rand::"] {
                assert!(!code.contains(forbidden), "{} says {forbidden}", file.display());
            }
        }
    }
}

#[test]
fn a_file_is_one_noun() {
    for file in rust_files() {
        let lines = std::fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= LONGEST_FILE, "{} has {lines} lines: split it", file.display());
    }
}

#[test]
fn each_lua_script_has_its_caller_beside_it() {
    for script in files("lua") {
        assert!(script.with_extension("rs").exists(), "{} has no .rs beside it", script.display());
    }
}

#[test]
fn o1_the_first_command_is_about_one_binary() {
    let metadata = metadata();
    let default: Vec<&Value> = metadata["workspace_default_members"].as_array().unwrap().iter().collect();
    let packages = metadata["packages"].as_array().unwrap().iter().filter(|package| default.contains(&&package["id"]));
    let targets = packages.flat_map(|package| package["targets"].as_array().unwrap());
    let runs: Vec<&Value> = targets.filter(|target| target["kind"][0] == "bin").map(|target| &target["name"]).collect();
    assert_eq!(runs, ["tidegate"], "cargo run would ask which one is meant");
}

fn members() -> Vec<Value> {
    metadata()["packages"].as_array().unwrap().clone()
}

fn metadata() -> Value {
    serde_json::from_str(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).unwrap()
}

fn cargo(words: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO")).args(words).args(["--offline", "--locked"]).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "cargo {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn rust_files() -> Vec<PathBuf> {
    files("rs")
}

/// Files of our folders with this ending; what cargo and npm made is not ours.
fn files(ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["bench", "clients", "crates", "fuzz", "tests"] {
        walk(&root().join(folder), ending, &mut found);
    }
    found
}

fn walk(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") && !path.ends_with("node_modules") {
            walk(&path, ending, found);
        } else if path.extension().is_some_and(|found| found == ending) {
            found.push(path);
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

//! The gate's part: its settings, curl, Python and Node, against the stand-in of a rate-limited service.

use std::fs;
use std::path::Path;
use std::process::Command;

use tidegate_tests::{GateServer, python};
use tidegate_upstreams::{Answer, Like, RetryAfter, Rule, Script, Upstream};

use crate::readme::{Block, blocks, fits, put, steps, type_in};

#[test]
fn the_gates_examples_are_true() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let busy = Answer::like(Like::Throttled).with_retry_after(RetryAfter::Seconds(30));
    let script = Script { rules: vec![Rule::new("GET /busy", [busy]).unwrap()], ..Script::default() };
    let upstream = runtime.block_on(Upstream::with(script)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let blocks = blocks("Calls to rate-limited services");
    let mut real = vec![("https://api.example.com".to_owned(), upstream.url(""))];

    let config = folder.path().join("gate.toml");
    let toml = blocks.iter().find(|block| block.language == "toml").unwrap();
    fs::write(&config, put(&toml.text, &real)).unwrap();
    let gate = GateServer::start(&config);
    real.push(("localhost:8090".to_owned(), gate.address.to_string()));

    let mut done = Vec::new();
    for block in &blocks {
        match block.language.as_str() {
            // The settings, and how the gate is started, above.
            "toml" | "sh" => continue,
            "console" => type_in(&steps(block), &real, folder.path()),
            "python" => run(Command::new(python()), "example.py", block, &real, folder.path()),
            "js" => run(Command::new("node"), "example.mjs", block, &real, folder.path()),
            other => panic!("nobody runs a block of {other:?}"),
        }
        done.push(block.language.as_str());
    }
    assert_eq!(done, ["console", "python", "js", "console"]);
    assert_eq!(upstream.log().len(), 4, "the last call was answered by the gate");
}

/// Runs a program whose last line says in a comment what it prints.
fn run(mut program: Command, name: &str, block: &Block, real: &[(String, String)], folder: &Path) {
    let file = folder.join(name);
    fs::write(&file, put(&block.text, real)).unwrap();
    let output = program.arg(&file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let last = block.text.trim_end().lines().last().unwrap();
    let expected = last.rsplit_once("# ").or_else(|| last.rsplit_once("// ")).unwrap().1;
    assert!(fits(printed.trim_end(), expected), "{name} printed {printed:?}, not {expected:?}");
}

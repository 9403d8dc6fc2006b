//! The README's five-minute tour, typed into a real shell line by line: each answer is the one that it shows.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::process::{Command, Stdio};

use tidegate_tests::{KEY, Server};

/// One line of the tour: what is typed, and what it prints (`…` stands for anything).
struct Step {
    typed: String,
    printed: Vec<String>,
}

#[test]
fn the_worked_example_is_the_readmes_tour() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &["--demo"]);
    let steps = steps(include_str!("../README.md"));
    assert!(steps.len() > 10, "the README's tour has {} lines", steps.len());
    let outputs = type_in(&steps, &server);
    assert_eq!(outputs.len(), steps.len());
    for (step, output) in steps.iter().zip(&outputs) {
        let output: Vec<&str> = output.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(
            output.len(),
            step.printed.len(),
            "$ {}\nprinted {output:#?}\nexpected {:#?}",
            step.typed,
            step.printed
        );
        for (line, expected) in output.iter().zip(&step.printed) {
            assert!(fits(line, expected), "$ {}\nprinted  {line}\nexpected {expected}", step.typed);
        }
    }
}

/// The `console` blocks between the tour's heading and the next one.
fn steps(readme: &str) -> Vec<Step> {
    let tour = readme.split("## The five-minute tour").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in tour.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(typed) = line.strip_prefix("$ ").filter(|_| inside) {
            steps.push(Step { typed: typed.to_owned(), printed: Vec::new() });
        } else if inside && !line.is_empty() {
            steps.last_mut().unwrap().printed.push(line.to_owned());
        }
    }
    steps
}

fn type_in(steps: &[Step], server: &Server) -> Vec<String> {
    const END: &str = "=== end of a step ===";
    let mut script = String::new();
    for step in steps {
        let typed = step.typed.replace("localhost:8080", &server.address.to_string()).replace("tg_…", KEY);
        script += &format!("{typed}\necho\necho '{END}'\n");
    }
    let mut shell = Command::new("bash").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    shell.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = shell.wait_with_output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let mut outputs: Vec<String> = output.split(END).map(str::to_owned).collect();
    outputs.pop();
    outputs
}

/// Whether a line is the expected one, where each `…` stands for anything.
fn fits(line: &str, expected: &str) -> bool {
    let mut rest = line;
    let mut parts = expected.split('…').peekable();
    let first = parts.next().unwrap();
    let Some(after) = rest.strip_prefix(first) else { return false };
    rest = after;
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty()
}

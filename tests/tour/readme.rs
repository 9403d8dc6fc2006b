//! Reads the README's examples, and does them.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// One fenced block.
pub(crate) struct Block {
    pub(crate) language: String,
    pub(crate) text: String,
}

/// One line of a `console` block: what is typed, and what it prints (`…` stands for anything).
pub(crate) struct Step {
    typed: String,
    printed: Vec<String>,
}

/// The blocks between a heading and the next one.
pub(crate) fn blocks(heading: &str) -> Vec<Block> {
    let readme = include_str!("../../README.md");
    let part = readme.split(&format!("\n## {heading}\n")).nth(1).unwrap().split("\n## ").next().unwrap();
    let fenced = part.split("```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap());
    fenced.map(|(language, text)| Block { language: language.to_owned(), text: text.to_owned() }).collect()
}

pub(crate) fn steps(block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.text.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("$ ") {
            Some(typed) => steps.push(Step { typed: typed.to_owned(), printed: Vec::new() }),
            None => steps.last_mut().unwrap().printed.push(line.to_owned()),
        }
    }
    steps
}

/// Types the lines into one shell and compares what each prints; `real` is what stands for the README's addresses.
pub(crate) fn type_in(steps: &[Step], real: &[(String, String)], folder: &Path) {
    const END: &str = "=== end of a step ===";
    let typed = steps.iter().map(|step| format!("{}\necho\necho '{END}'\n", put(&step.typed, real)));
    let mut shell = Command::new("bash");
    let path = format!("{}:{}", tidegate_tests::tidegate().parent().unwrap().display(), std::env::var("PATH").unwrap());
    shell.current_dir(folder).env("PATH", path).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    shell.stdin.take().unwrap().write_all(typed.collect::<String>().as_bytes()).unwrap();
    let output = shell.wait_with_output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let mut outputs: Vec<&str> = output.split(END).collect();
    outputs.pop();
    assert_eq!(outputs.len(), steps.len());
    for (step, output) in steps.iter().zip(outputs) {
        let expected: Vec<String> = step.printed.iter().map(|line| put(line, real)).collect();
        let printed: Vec<&str> = output.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(printed.len(), expected.len(), "$ {}\nprinted {printed:#?}\nexpected {expected:#?}", step.typed);
        for (line, expected) in printed.iter().zip(&expected) {
            assert!(fits(line, expected), "$ {}\nprinted  {line}\nexpected {expected}", step.typed);
        }
    }
}

/// Puts what is real in the place of what the README says.
pub(crate) fn put(text: &str, real: &[(String, String)]) -> String {
    real.iter().fold(text.to_owned(), |text, (said, real)| text.replace(said, real))
}

/// Whether a line is the expected one, where each `…` stands for anything.
pub(crate) fn fits(line: &str, expected: &str) -> bool {
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

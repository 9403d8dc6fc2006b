//! The five-minute tour.

use tidegate_tests::{KEY, Server};

use crate::readme::{blocks, steps, type_in};

#[test]
fn the_worked_example_is_the_readmes_tour() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &["--demo"]);
    let blocks = blocks("The five-minute tour");
    let steps: Vec<_> = blocks.iter().filter(|block| block.language == "console").flat_map(steps).collect();
    assert!(steps.len() > 10, "the README's tour has {} lines", steps.len());
    let real = [("localhost:8080".to_owned(), server.address.to_string()), ("tg_…".to_owned(), KEY.to_owned())];
    type_in(&steps, &real, data.path());
}

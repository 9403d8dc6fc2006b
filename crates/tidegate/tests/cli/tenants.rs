//! Tenants and keys, with a server running on the data and with none.

use std::path::Path;

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::http::{call, get, post};
use crate::program::{KEY, Server, complaint, run, said, text};

/// A data directory with a server on it, or with none running.
struct House {
    dir: TempDir,
    server: Option<Server>,
}

impl House {
    fn both() -> [Self; 2] {
        [true, false].map(|running| {
            let dir = tempdir().unwrap();
            let server = Server::start(dir.path(), &["--key", KEY]);
            let server = if running {
                Some(server)
            } else {
                server.stop();
                None
            };
            Self { dir, server }
        })
    }

    fn words<'a>(&'a self, words: &[&'a str]) -> Vec<&'a str> {
        [words, &["--data", self.dir.path().to_str().unwrap()]].concat()
    }

    fn said(&self, words: &[&str]) -> String {
        said(&self.words(words))
    }

    fn complaint(&self, words: &[&str]) -> String {
        complaint(&self.words(words))
    }

    fn list(&self) -> Vec<Value> {
        serde_json::from_str(&self.said(&["tenant", "list", "--json"])).unwrap()
    }

    /// Whether a key opens this tenant at the server, which is started if none runs.
    fn opens(&self, key: &str, tenant: &str) -> bool {
        let started = self.server.is_none().then(|| Server::start(self.dir.path(), &[]));
        let address = started.as_ref().or(self.server.as_ref()).unwrap().address;
        let (status, body) = get(address, "/v1/tenant", key);
        if let Some(started) = started {
            started.stop();
        }
        status == 200 && body["id"] == tenant
    }
}

fn key_in(said: &str) -> String {
    said.lines().find(|line| line.starts_with("tg_")).unwrap().to_owned()
}

#[test]
fn a_tenant_is_added_listed_and_opened() {
    for house in House::both() {
        let key = key_in(&house.said(&["tenant", "add", "acme", "--viewer-cap", "200", "--name", "Acme Inc"]));
        assert!(house.opens(&key, "acme"));
        let table = house.said(&["tenant", "list"]);
        insta::allow_duplicates! {
            insta::assert_snapshot!(table, @r"
            TENANT  NAME      SEATS  VIEWER CAP  PUBLISHERS  MAX SESSIONS  KEYS
            acme    Acme Inc      0         200          20           420     1
            main    main          0       10000          20         20020     1
            ");
        }
        let acme = house.list().into_iter().find(|row| row["id"] == "acme").unwrap();
        assert_eq!((&acme["viewer_cap"], &acme["max_sessions"]), (&200.into(), &420.into()), "S23");
    }
}

#[test]
fn s23_sessions_follow_a_raised_cap_unless_they_were_set() {
    for house in House::both() {
        let row = |house: &House| house.list().remove(0);
        house.said(&["tenant", "set", "main", "--viewer-cap", "300"]);
        assert_eq!(row(&house)["max_sessions"], 620);

        let output = run(&house.words(&["tenant", "set", "main", "--max-sessions", "500"]));
        assert!(output.status.success());
        assert!(text(&output.stderr).contains("= 620; viewers with a seat may be refused"), "{}", text(&output.stderr));
        house.said(&["tenant", "set", "main", "--viewer-cap", "400"]);
        assert_eq!(row(&house)["max_sessions"], 500, "what was set stays");

        house.said(&["tenant", "set", "main", "--max-sessions", "auto"]);
        assert_eq!(row(&house)["max_sessions"], 820);
    }
}

#[test]
fn a_new_key_opens_beside_the_older_or_alone() {
    for house in House::both() {
        let second = key_in(&house.said(&["tenant", "key", "main"]));
        assert!(house.opens(KEY, "main") && house.opens(&second, "main"));
        let third = key_in(&house.said(&["tenant", "key", "main", "--only"]));
        assert!(house.opens(&third, "main"));
        assert!(!house.opens(KEY, "main") && !house.opens(&second, "main"));
        assert_eq!(house.list()[0]["keys"], 1);
    }
}

#[test]
fn mistakes_are_told_alike_with_and_without_a_server() {
    for house in House::both() {
        let there = house.complaint(&["tenant", "add", "main"]);
        assert_eq!(there, "error: there is a tenant main already\nhint: change it with: tidegate tenant set main\n");
        let none = "error: there is no tenant acme\nhint: see them with: tidegate tenant list\n";
        assert_eq!(house.complaint(&["tenant", "set", "acme", "--viewer-cap", "3"]), none);
        assert_eq!(house.complaint(&["tenant", "key", "acme"]), none);
        let id = house.complaint(&["tenant", "add", "Acme Inc"]);
        assert_eq!(id, "error: \"Acme Inc\" is no tenant id\nhint: an id is 1 to 40 of a-z, 0-9, - and _\n");
    }
}

#[test]
fn t1_rotated_token_keys_sign_at_once_and_older_tokens_go_on() {
    for house in House::both() {
        let path = |path: &str| format!("/v1/play/{path}");
        let kid = |server: &Server| {
            let (_, jwks) = call(server.address, "GET", "/.well-known/jwks.json", None, "");
            jwks["keys"]
                .as_array()
                .unwrap()
                .iter()
                .map(|key| key["kid"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        let said = house.said(&["keys", "rotate"]);
        let signer = said.split(' ').nth(1).unwrap().to_owned();
        let started = house.server.is_none().then(|| Server::start(house.dir.path(), &["--demo"]));
        let server = started.as_ref().or(house.server.as_ref()).unwrap();
        assert_eq!(kid(server).len(), 2);
        assert_eq!(kid(server)[0], signer);
        if started.is_some() {
            let (_, told) = post(server.address, &path("demo/admit"), "{}");
            let body = format!("{{\"seat\":{},\"token\":{}}}", told["seat"], told["token"]);
            house.said(&["keys", "rotate"]);
            assert_eq!(post(server.address, &path("demo/token"), &body).0, 200, "the older key verifies");
        }
    }
}

#[test]
fn a_directory_without_data_is_named_and_left_empty() {
    let dir = tempdir().unwrap();
    let said = complaint(&["tenant", "list", "--data", dir.path().to_str().unwrap()]);
    assert!(said.contains("holds no tidegate data") && said.contains("--data"), "{said}");
    assert_eq!(dir.path().read_dir().unwrap().count(), 0);
}

#[test]
fn everything_in_the_directory_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempdir().unwrap();
    let data = dir.path().join("data");
    let _server = Server::start(&data, &[]);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    let mut names = Vec::new();
    for entry in data.read_dir().unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
    }
    for name in ["admin.sock", "seats.db", "token-keys.json"] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
    }
}

#[test]
fn a_directory_with_a_long_name_works_too() {
    let dir = tempdir().unwrap();
    let data = dir.path().join("a-long-name".repeat(20));
    let _server = Server::start(&data, &[]);
    let listed = said(&["tenant", "list", "--data", data.to_str().unwrap()]);
    assert!(listed.contains("main"), "{listed}");
}

#[test]
fn a_dead_servers_socket_stands_in_nobodys_way() {
    let dir = tempdir().unwrap();
    let mut server = Server::start(dir.path(), &["--key", KEY]);
    server.kill();
    assert!(dir.path().join("admin.sock").exists());
    let data = dir.path().to_str().unwrap();
    assert!(said(&["tenant", "list", "--data", data]).contains("main"));
    let _again = Server::start(dir.path(), &[]);
    assert!(said(&["tenant", "list", "--data", data]).contains("main"));
}

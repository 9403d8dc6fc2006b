//! How bodies are read: what is refused, and in which words (S25, "Limits against bad input").
#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use tidegate_wire::{Code, JSON_DEPTH_MAX, Problem, play, seats, streams};

/// Code, field and detail of a refusal.
fn said(problem: &Problem) -> (Code, Option<&str>, &str) {
    (problem.code, problem.field.as_deref(), &problem.detail)
}

fn refused<T: std::fmt::Debug>(read: Result<T, Problem>) -> Problem {
    read.unwrap_err()
}

#[test]
fn s25_an_empty_body_is_an_empty_object() {
    for body in ["", " \n\t", "{}", " {} "] {
        assert_eq!(play::parse_admit(body.as_bytes()).unwrap(), play::AdmitRequest::default(), "{body:?}");
    }
    assert!(streams::parse_nothing(b"").is_ok());
}

#[test]
fn s25_page_calls_ignore_unknown_fields_and_read_null_as_absent() {
    let body = br#"{"seat":"x","later":{"a":[1,2,{}]},"token":null,"join":true}"#;
    let ask = play::parse_admit(body).unwrap();
    assert_eq!(ask, play::AdmitRequest { seat: Some("x".into()), join: Some(true), ..Default::default() });
    assert!(play::parse_heartbeat(br#"{"seat":"x","v":2}"#).is_ok());
    assert!(play::parse_token(br#"{"seat":"x","v":2}"#).is_ok());
    assert!(play::parse_leave(br#"{"seat":"x","v":2}"#).is_ok());
}

#[test]
fn s25_tenant_calls_refuse_unknown_fields_and_name_the_nearest() {
    let problem = refused(streams::parse_stream(br#"{"name":"a","viewer_cap":2,"queue_mx":1}"#));
    let detail = "queue_mx: unknown field; did you mean `queue_max`?";
    assert_eq!(said(&problem), (Code::UnknownField, Some("queue_mx"), detail));

    let problem = refused(streams::parse_change(br#"{"viewercap":2}"#));
    assert_eq!(problem.detail, "viewercap: unknown field; did you mean `viewer_cap`?");
    let problem = refused(seats::parse_kick(br#"{"zzz":2}"#));
    assert_eq!(problem.detail, "zzz: unknown field; this call knows seat, viewer");
    let problem = refused(streams::parse_nothing(br#"{"now":true}"#));
    assert_eq!(problem.detail, "now: unknown field; this call takes none");
    let problem = refused(play::parse_viewer_token(br#"{"viewr":"ann"}"#));
    assert_eq!(problem.detail, "viewr: unknown field; did you mean `viewer`?");
    let problem = refused(seats::parse_heartbeats(br#"{"seat":["x"]}"#));
    assert_eq!(problem.detail, "seat: unknown field; did you mean `seats`?");
}

#[test]
fn s25_a_long_unknown_name_is_not_repeated_at_length() {
    let body = format!(r#"{{"{}":1}}"#, "x".repeat(60_000));
    let problem = refused(streams::parse_stream(body.as_bytes()));
    assert_eq!(problem.field.unwrap().len(), 60);
    assert!(problem.detail.len() < 300);
    let body = format!(r#"{{"viewer_cap":"{}"}}"#, "x".repeat(60_000));
    assert!(refused(streams::parse_change(body.as_bytes())).detail.len() < 300);
}

#[test]
fn s25_a_wrong_type_names_the_field() {
    let problem = refused(play::parse_admit(br#"{"seat":5}"#));
    let detail = "seat: invalid type: integer `5`, expected a string at line 1 column 9";
    assert_eq!(said(&problem), (Code::BadRequest, Some("seat"), detail));
    for (body, field) in [
        (r#"{"join":"yes"}"#, "join"),
        (r#"{"hidden":1}"#, "hidden"),
        (r#"{"token":["x"]}"#, "token"),
        (r#"{"nonce":{}}"#, "nonce"),
        (r#"{"hls":"x"}"#, "hls"),
    ] {
        let problem = refused(play::parse_admit(body.as_bytes()));
        assert_eq!((problem.code, problem.field.as_deref()), (Code::BadRequest, Some(field)), "{body}");
    }
    let problem = refused(seats::parse_heartbeats(br#"{"seats":["a",7]}"#));
    assert_eq!(problem.field.as_deref(), Some("seats"));
    assert!(problem.detail.starts_with("seats[1]: invalid type: integer `7`"), "{}", problem.detail);
}

#[test]
fn s25_a_needed_field_that_is_missing_is_named() {
    let problem = refused(streams::parse_stream(br#"{"name":"a"}"#));
    assert_eq!(said(&problem), (Code::BadRequest, Some("viewer_cap"), "viewer_cap: is needed"));
    let problem = refused(seats::parse_heartbeats(b""));
    assert_eq!(said(&problem), (Code::BadRequest, Some("seats"), "seats: is needed"));
}

#[test]
fn limits_numbers_are_whole_and_bounded() {
    for number in
        ["-1", "0", "1000001", "4294967296", "18446744073709551616", "1e400", "1.5", "2.0", "\"2\"", "NaN", "true"]
    {
        let body = format!(r#"{{"name":"a","viewer_cap":{number}}}"#);
        let problem = refused(streams::parse_stream(body.as_bytes()));
        assert_eq!(problem.code, Code::BadRequest, "{number}");
    }
    let problem = refused(streams::parse_stream(br#"{"name":"a","viewer_cap":-1}"#));
    let detail =
        "viewer_cap: invalid value: integer `-1`, expected a whole number from 1 to 1000000 at line 1 column 27";
    assert_eq!(said(&problem), (Code::BadRequest, Some("viewer_cap"), detail));
    let most = streams::parse_stream(br#"{"name":"a","viewer_cap":1000000,"queue_max":0}"#).unwrap();
    assert_eq!((most.viewer_cap.0, most.queue_max.unwrap().0), (1_000_000, 0));
}

#[test]
fn limits_what_is_not_a_json_object_is_refused() {
    for body in ["[]", r#"["a"]"#, "5", "null", "\"a\"", "{", "{]", "{\"a\"}", "{}x", "{}{}", "nonsense", "\u{feff}{}"]
    {
        let problem = refused(play::parse_admit(body.as_bytes()));
        assert_eq!((problem.code, problem.field), (Code::BadRequest, None), "{body}");
    }
}

#[test]
fn limits_bad_utf8_is_refused_wherever_it_stands() {
    for body in [&b"{\"seat\":\"\xff\"}"[..], b"{\"other\":\"\xc3\x28\"}", b"\xff", b"{\"\xf0\x28\x8c\x28\":1}"] {
        assert_eq!(refused(play::parse_admit(body)).code, Code::BadRequest);
    }
    assert_eq!(refused(play::parse_admit(br#"{"seat":"\ud800"}"#)).code, Code::BadRequest);
}

#[test]
fn limits_a_field_given_twice_is_refused() {
    let problem = refused(play::parse_leave(br#"{"seat":"a","seat":"b"}"#));
    assert_eq!(problem.code, Code::BadRequest);
    assert!(problem.detail.contains("duplicate field `seat`"), "{}", problem.detail);
}

#[test]
fn limits_the_depth_of_json_is_bounded_also_in_ignored_fields() {
    let nested = |depth: usize| format!(r#"{{"later":{}{}}}"#, "[".repeat(depth - 1), "]".repeat(depth - 1));
    assert!(play::parse_admit(nested(JSON_DEPTH_MAX).as_bytes()).is_ok());
    let problem = refused(play::parse_admit(nested(JSON_DEPTH_MAX + 1).as_bytes()));
    assert!(problem.detail.contains("nested more than 32 deep"), "{}", problem.detail);
    // Wide is not deep, and brackets in a string are text.
    let wide = format!(r#"{{"later":[{}[]]}}"#, "[],".repeat(1000));
    assert!(play::parse_admit(wide.as_bytes()).is_ok());
    let text = format!(r#"{{"later":"\"{}"}}"#, "[".repeat(1000));
    assert!(play::parse_admit(text.as_bytes()).is_ok());
    for body in ["[".repeat(65_536), "{\"a\":".repeat(13_000)] {
        assert_eq!(refused(play::parse_admit(body.as_bytes())).code, Code::BadRequest);
    }
}

#[test]
fn s8_a_nonce_of_16_to_200_characters_is_taken() {
    let with = |nonce: String| play::parse_admit(format!(r#"{{"nonce":"{nonce}"}}"#).as_bytes());
    assert!(with("n".repeat(16)).is_ok());
    assert!(with("ü".repeat(200)).is_ok());
    for nonce in [String::new(), "n".repeat(15), "n".repeat(201)] {
        assert_eq!(refused(with(nonce)).code, Code::BadNonce);
    }
    // Ignored beside `seat`, so also not judged.
    assert!(play::parse_admit(br#"{"nonce":"short","seat":"a"}"#).is_ok());
}

#[test]
fn limits_names_tokens_and_regions_are_bounded() {
    let stream = |name: &str| streams::parse_stream(format!(r#"{{"name":"{name}","viewer_cap":1}}"#).as_bytes());
    assert!(stream(&"ü".repeat(200)).is_ok());
    for name in [String::new(), "x".repeat(201), "a\\nb".into(), "\\u0000".into()] {
        assert_eq!(refused(stream(&name)).field.as_deref(), Some("name"));
    }
    let token = |bytes: usize| play::parse_heartbeat(format!(r#"{{"token":"{}"}}"#, "t".repeat(bytes)).as_bytes());
    assert!(token(4096).is_ok());
    assert_eq!(said(&refused(token(4097))), (Code::BadRequest, Some("token"), "token: at most 4096 bytes"));
    let region = |text: &str| streams::parse_change(format!(r#"{{"region":{text}}}"#).as_bytes());
    assert_eq!(region("null").unwrap().region, Some(None));
    assert_eq!(region("\"eu-west\"").unwrap().region, Some(Some("eu-west".into())));
    assert_eq!(streams::parse_change(b"{}").unwrap().region, None);
    assert_eq!(refused(region("\"eu west\"")).field.as_deref(), Some("region"));
    let hint = play::parse_admit(format!(r#"{{"region":"{}"}}"#, "r".repeat(201)).as_bytes());
    assert_eq!(refused(hint).field.as_deref(), Some("region"));
}

#[test]
fn s21_a_kick_names_one_of_seat_and_viewer() {
    assert!(seats::parse_kick(br#"{"seat":"a"}"#).is_ok());
    assert!(seats::parse_kick(br#"{"viewer":"ann"}"#).is_ok());
    assert_eq!(refused(seats::parse_kick(b"{}")).detail, "seat: name a `seat` or a `viewer`");
    let both = refused(seats::parse_kick(br#"{"seat":"a","viewer":"ann"}"#));
    assert_eq!(both.detail, "viewer: name `seat` or `viewer`, not both");
}

#[test]
fn s18_a_backend_keeps_at_most_1000_seats_at_once() {
    let body = |count: usize| format!(r#"{{"seats":[{}]}}"#, vec!["\"a6Zc1nPzQ0uW4xYb2kLm9A\""; count].join(","));
    assert!(body(1000).len() <= 64 * 1024, "a full call fits the largest body");
    assert_eq!(seats::parse_heartbeats(body(1000).as_bytes()).unwrap().seats.len(), 1000);
    assert_eq!(refused(seats::parse_heartbeats(body(1001).as_bytes())).detail, "seats: at most 1000 at once");
}

#[test]
fn s23_sessions_below_the_seats_needs_get_a_warning_that_names_the_sum() {
    use tidegate_wire::tenant::{sessions_needed, sessions_warning};
    assert_eq!(sessions_needed(200, 20), 420);
    assert_eq!(sessions_needed(u32::MAX, 20), u32::MAX);
    assert_eq!(sessions_warning(200, 20, 420), None);
    assert!(sessions_warning(200, 20, 419).unwrap().contains("2 x 200 + 20 = 420"));
}

proptest! {
    /// Whatever bytes come, the answer is a value or a 400 problem, never a panic.
    #[test]
    fn limits_any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        all_readers(&bytes)?;
    }

    /// The same for what is nearly right.
    #[test]
    fn limits_any_json_like_text_is_read_or_refused(
        text in r#"\{("(seat|seats|viewer_cap|nam|token|join|é)":(-?[0-9]{1,25}|"[a-z]{0,20}"|null|\[\]|\{\}|true),?){0,5}\}?"#
    ) {
        all_readers(text.as_bytes())?;
    }
}

fn all_readers(bytes: &[u8]) -> Result<(), TestCaseError> {
    let problems = [
        play::parse_admit(bytes).err(),
        play::parse_viewer_token(bytes).err(),
        play::parse_token(bytes).err(),
        play::parse_heartbeat(bytes).err(),
        play::parse_leave(bytes).err(),
        streams::parse_stream(bytes).err(),
        streams::parse_change(bytes).err(),
        streams::parse_nothing(bytes).err(),
        seats::parse_kick(bytes).err(),
        seats::parse_heartbeats(bytes).err(),
    ];
    for problem in problems.into_iter().flatten() {
        prop_assert_eq!(problem.status, 400);
        prop_assert!(problem.detail.len() < 1000);
    }
    Ok(())
}

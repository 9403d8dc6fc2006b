//! A stand-in, rooms that call it through a gate, and viewers.

use std::collections::BTreeSet;

use tidegate_chat::event::{Event, Kind};
use tidegate_chat::room::Start;
use tidegate_chat::youtube::{Name, View};
use tidegate_chat::{ChatSettings, Refused, Rooms, Viewer};
use tidegate_upstream::{Gate, Preset};
use tidegate_youtube::{Script, YouTube};

pub(crate) const VIDEO: &str = "abcdefghij0";

pub(crate) struct Stage {
    pub(crate) youtube: YouTube,
    pub(crate) rooms: Rooms,
}

impl Stage {
    pub(crate) async fn new(script: Script) -> Self {
        let youtube = YouTube::start(script).await.unwrap();
        let mut settings = Preset::Youtube.settings();
        settings.base_url = Some(youtube.url());
        let gate = Gate::new([("youtube", settings)]).unwrap();
        let rooms = Rooms::new(gate, ChatSettings::new("youtube")).unwrap();
        Self { youtube, rooms }
    }

    pub(crate) async fn enter(&self, name: &str, last_event_id: Option<&str>) -> Result<Viewer, Refused> {
        self.rooms.enter(&Name::parse(name).unwrap(), View::All, Start::of_header(last_event_id)).await
    }

    pub(crate) fn calls(&self, what: &str) -> usize {
        self.youtube.log().iter().filter(|call| call.what.ends_with(what)).count()
    }
}

/// What a viewer has got.
#[derive(Debug, Default)]
pub(crate) struct Got {
    pub(crate) last_id: Option<String>,
    pub(crate) rows: Vec<u64>,
    pub(crate) others: Vec<Kind>,
}

impl Got {
    /// Takes whole frames.
    pub(crate) fn take(&mut self, frames: &[u8]) {
        for frame in std::str::from_utf8(frames).unwrap().split_terminator("\n\n") {
            let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
            self.last_id = field("id: ").or(self.last_id.take());
            let Some(data) = field("data: ") else { continue };
            let event: Event = serde_json::from_str(&data).unwrap();
            match event.id.as_ref().and_then(|id| id.strip_prefix('m')) {
                Some(row) => self.rows.push(row.parse().unwrap()),
                None => self.others.push(event.kind),
            }
        }
    }

    pub(crate) async fn until(&mut self, viewer: &mut Viewer, mut enough: impl FnMut(&Self) -> bool) {
        while !enough(self) {
            self.take(&viewer.next().await.expect("the room goes on"));
        }
    }

    /// Rows one after the other, none twice, none missing.
    pub(crate) fn check(&self) {
        let torn = self.rows.windows(2).find(|pair| pair[1] != pair[0] + 1);
        assert_eq!(torn, None);
        assert_eq!(self.rows.iter().collect::<BTreeSet<_>>().len(), self.rows.len());
    }

    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.others.iter().map(Kind::name).collect()
    }
}

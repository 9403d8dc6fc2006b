//! The first start's tenant and key, the demo's stream, and what is said about them.

use std::net::SocketAddr;
use std::path::Path;

use tidegate_seats::{StreamId, StreamSettings, TenantId};
use tidegate_store::{Catalogue, Embedded, Seats};

use crate::admin::{Office, TenantChange};
use crate::config::Upstreams;
use crate::demo::{PAGE, STREAM as DEMO, VIDEO, WATCH};
use crate::failure::{Failure, OrSay, Outcome};
use crate::say::say;
use crate::secret::SecretKey;
use crate::{gate, relay};

/// What the key of this start is, if it is news.
pub(super) enum Door {
    /// There was no tenant: one is made, with a key that nobody has seen.
    Made(SecretKey),
    /// The same, with the given key.
    MadeFor(TenantId),
    /// The tenant there is opens with the given key too.
    OpensToo(TenantId),
    /// Nothing new.
    AsBefore,
}

/// Makes what a first start makes.
pub(super) async fn open_the_door(given: Option<&SecretKey>, store: &Embedded, office: &Office) -> Outcome<Door> {
    match given {
        None if store.tenants().await.is_empty() => {
            let key = SecretKey::generate();
            office.add(MAIN, TenantChange::default(), &key).await?;
            Ok(Door::Made(key))
        }
        None => Ok(Door::AsBefore),
        Some(key) if store.tenants().await.is_empty() => {
            office.add(MAIN, TenantChange::default(), key).await?;
            Ok(Door::MadeFor(home(store).await?))
        }
        Some(key) => admit_key(store, key).await,
    }
}

/// Makes the stream of `--demo`, unless there is one; answers its settings, which an earlier visitor may have changed.
pub(super) async fn make_demo(store: &Embedded) -> Outcome<StreamSettings> {
    let id = StreamId::parse(DEMO).expect("four small letters");
    if let Some(tenant) = store.tenant_of(&id).await
        && let Some(stream) = store.stream(&tenant, &id).await
    {
        return Ok(stream.settings);
    }
    let settings = StreamSettings {
        name: "Demo".to_owned(),
        viewer_cap: 2,
        queue_max: 1,
        public: true,
        region: None,
        estimate: false,
    };
    let tenant = home(store).await?;
    store.open_stream(&tenant, &id, settings.clone()).await.or_say(|| format!("cannot make the stream {DEMO}"))?;
    Ok(settings)
}

/// Says what runs where, and what to do next.
pub(super) struct Greeting<'a> {
    pub(super) data: &'a Path,
    /// Where the control listens; with port 0 the system chose one.
    pub(super) address: Option<SocketAddr>,
    /// `None` where it is off.
    pub(super) gate: Option<&'a gate::Door>,
    /// `None` where it is off.
    pub(super) relay: Option<&'a relay::Door>,
    pub(super) upstreams: &'a Upstreams,
    pub(super) door: Door,
    /// The demo's stream, if it is there.
    pub(super) demo: Option<StreamSettings>,
    /// Whether the demo's chat is there.
    pub(super) shows_chat: bool,
}

impl Greeting<'_> {
    /// Prints to stdout, where nothing else goes, so that it can be copied.
    pub(super) fn print(&self) {
        let control = self.address.map_or_else(|| "off".to_owned(), |address| format!("http://{address}"));
        let gate = self.gate.map_or_else(|| "off".to_owned(), |door| format!("http://{}", door.address()));
        let (version, data) = (env!("CARGO_PKG_VERSION"), self.data.display());
        let relay = self.relay.map_or_else(|| "off".to_owned(), |door| format!("https://{}", door.address()));
        say(format_args!(
            "tidegate {version}\n  control  {control}\n  gate     {gate}\n  relay    {relay}\n  data     {data}"
        ));
        if let Some(door) = self.gate.filter(|_| !self.upstreams.is_empty()) {
            say(door.upstreams_in_words(self.upstreams));
        }
        match &self.door {
            Door::Made(key) => self.print_key(key),
            Door::MadeFor(tenant) => say(format_args!("\ntenant {tenant} is made; it opens with the given key")),
            Door::OpensToo(tenant) => say(format_args!(
                "\ntenant {tenant} opens with the given key too; end the older ones with: \
                 tidegate tenant key {tenant} --only"
            )),
            Door::AsBefore => {}
        }
        if let Some(demo) = &self.demo {
            self.print_demo(demo);
        }
        if self.shows_chat {
            self.print_chat();
        }
    }

    fn print_key(&self, key: &SecretKey) {
        let (url, key) = (self.url(), key.expose());
        say(format_args!(
            "
The secret key of tenant {MAIN}, shown this once:

{key}

Next, make a stream:

export TIDEGATE_KEY={key}
curl {url}/v1/streams -H \"Authorization: Bearer $TIDEGATE_KEY\" \
             -d '{{\"name\":\"launch\",\"viewer_cap\":500,\"queue_max\":1000}}'

The answer's id names it in every other call: {url}/v1/play/ID/admit"
        ));
    }

    fn print_demo(&self, demo: &StreamSettings) {
        let (url, seats) = (self.url(), demo.viewer_cap);
        let (seats_in_words, places) = (counted(seats, "seat"), counted(demo.queue_max, "place"));
        say(format_args!(
            "
The stream {DEMO} has {seats_in_words} and {places} in line. Watch it in several tabs, or ask for a seat as they would:

{url}{WATCH}

curl -X POST {url}/v1/play/{DEMO}/admit   # whoever finds no seat waits, and is full when the line is

A page keeps its seat, or leaves it to the next in line, with the seat id from its answer:

curl {url}/v1/play/{DEMO}/hb -d '{{\"seat\":\"SEAT\"}}'
curl {url}/v1/play/{DEMO}/leave -d '{{\"seat\":\"SEAT\"}}'

Or let 20 pages do all that, and see whether anybody is wronged:

tidegate load --server {url} --stream {DEMO} --viewers 20 --seconds 60 --cap {seats}"
        ));
    }

    fn print_chat(&self) {
        let url = self.url();
        say(format_args!(
            "
A live chat goes on in the video {VIDEO}, which a stand-in of YouTube shows. Look at it, or read it:

{url}{PAGE}?video={VIDEO}

tidegate chat {VIDEO} --server {url}
curl -N {url}/v1/chat/{VIDEO}/events"
        ));
    }

    fn url(&self) -> String {
        self.address.map_or_else(|| "http://ADDR:PORT".to_owned(), |address| format!("http://{address}"))
    }
}

fn counted(number: u32, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A key given to a later start opens the door too; the ones there are go on, so that a restart locks nobody out.
async fn admit_key(store: &Embedded, key: &SecretKey) -> Outcome<Door> {
    if store.tenant_of_key(&key.digest()).await.is_some() {
        return Ok(Door::AsBefore);
    }
    let tenant = home(store).await?;
    store.add_key(&tenant, key.digest(), false).await.or_say(|| format!("cannot give tenant {tenant} the key"))?;
    Ok(Door::OpensToo(tenant))
}

/// The tenant of the first start, or the only one there is.
async fn home(store: &Embedded) -> Outcome<TenantId> {
    let tenants = store.tenants().await;
    let main = tenants.iter().find(|tenant| tenant.id.as_str() == MAIN);
    let home = main.or(if let [only] = tenants.as_slice() { Some(only) } else { None });
    home.map(|tenant| tenant.id.clone()).ok_or_else(|| {
        Failure::new(format!("there is no tenant {MAIN}, which --key and --demo are for"))
            .hint(format!("make it with: tidegate tenant add {MAIN}"))
    })
}

const MAIN: &str = "main";

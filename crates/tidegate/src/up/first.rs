//! The first start's tenant and key, the demo's stream, and what is said about them.

use std::net::SocketAddr;
use std::sync::Arc;

use tidegate_seats::{StreamId, StreamSettings, TenantId};
use tidegate_store::{Catalogue, Embedded, Seats};

use crate::admin::{Office, TenantChange};
use crate::config::Config;
use crate::failure::{Failure, OrSay, Outcome};
use crate::secret::SecretKey;
use crate::up::Up;

/// Says what runs where, and what to do next.
pub(super) struct Greeting<'a> {
    pub(super) config: &'a Config,
    /// Where the control listens; with port 0 the system chose one.
    pub(super) address: Option<SocketAddr>,
}

impl Greeting<'_> {
    /// Makes what a first start makes, and prints to stdout. Nothing else goes there, so that it can be copied.
    pub(super) async fn print(&self, up: &Up, store: &Arc<Embedded>, office: &Office) -> Outcome<()> {
        println!("tidegate {}", env!("CARGO_PKG_VERSION"));
        match self.address {
            Some(address) => println!("  control  http://{address}"),
            None => println!("  control  off"),
        }
        println!("  data     {}", self.config.store.data.display());
        self.open_the_door(up.key.as_ref(), store, office).await?;
        if up.demo {
            let tenant = home(store).await?;
            make_demo(store, &tenant).await?;
            self.print_demo();
        }
        Ok(())
    }

    async fn open_the_door(&self, given: Option<&SecretKey>, store: &Embedded, office: &Office) -> Outcome<()> {
        let first_start = store.tenants().await.is_empty();
        match given {
            Some(key) if first_start => {
                office.add(MAIN, TenantChange::default(), key).await?;
                println!("\ntenant {MAIN} is made; it opens with the given key");
            }
            Some(key) => admit_key(store, key).await?,
            None if first_start => {
                let key = SecretKey::generate();
                office.add(MAIN, TenantChange::default(), &key).await?;
                self.print_key(&key);
            }
            None => {}
        }
        Ok(())
    }

    fn print_key(&self, key: &SecretKey) {
        println!("\nThe secret key of tenant {MAIN}, shown this once:\n\n{}", key.expose());
        println!("\nNext, make a stream:\n\nexport TIDEGATE_KEY={}", key.expose());
        println!(
            "curl {}/v1/streams -H \"Authorization: Bearer $TIDEGATE_KEY\" \
             -d '{{\"name\":\"launch\",\"viewer_cap\":500,\"queue_max\":1000}}'",
            self.url()
        );
    }

    fn print_demo(&self) {
        let url = self.url();
        println!("\nThe stream {DEMO} has 2 seats and 1 place in line. Ask for a seat as four pages would:\n");
        println!("curl -X POST {url}/v1/play/{DEMO}/admit   # two are in, the third waits, the fourth finds it full");
        println!("\nA page keeps its seat, or leaves it to the next in line, with the seat id from its answer:\n");
        println!("curl {url}/v1/play/{DEMO}/hb -d '{{\"seat\":\"SEAT\"}}'");
        println!("curl {url}/v1/play/{DEMO}/leave -d '{{\"seat\":\"SEAT\"}}'");
        println!("\nOr let 20 pages do all that, and see whether anybody is wronged:\n");
        println!("tidegate load --server {url} --stream {DEMO} --viewers 20 --seconds 60 --cap 2");
    }

    fn url(&self) -> String {
        self.address.map_or_else(|| "http://ADDR:PORT".to_owned(), |address| format!("http://{address}"))
    }
}

/// A key given to a later start opens the door too; the ones there are go on, so that a restart locks nobody out.
async fn admit_key(store: &Embedded, key: &SecretKey) -> Outcome<()> {
    if store.tenant_of_key(&key.digest()).await.is_some() {
        return Ok(());
    }
    let tenant = home(store).await?;
    store.add_key(&tenant, key.digest(), false).await.or_say(|| format!("cannot give tenant {tenant} the key"))?;
    println!(
        "\ntenant {tenant} opens with the given key too; end the older ones with: tidegate tenant key {tenant} --only"
    );
    Ok(())
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

async fn make_demo(store: &Embedded, tenant: &TenantId) -> Outcome<()> {
    let id = StreamId::parse(DEMO).expect("four small letters");
    if store.tenant_of(&id).await.is_some() {
        return Ok(());
    }
    let settings = StreamSettings {
        name: "Demo".to_owned(),
        viewer_cap: 2,
        queue_max: 1,
        public: true,
        region: None,
        estimate: false,
    };
    store.open_stream(tenant, &id, settings).await.or_say(|| format!("cannot make the stream {DEMO}"))?;
    Ok(())
}

const MAIN: &str = "main";
const DEMO: &str = "demo";

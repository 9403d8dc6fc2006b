//! Losses, and coming back (C8).

use std::time::Duration;

use tidegate_youtube::Script;
use tokio::time::{pause, sleep};

use super::viewer::{Got, Viewer};
use super::{VIDEO, with};

/// 200 rows a second, all of which the stand-in tells.
fn fast() -> Script {
    Script { rate: 200.0, hint_ms: 1_000, reach_rows: 1_000, ..Script::default() }
}

#[tokio::test]
async fn c8_a_hundred_losses_of_a_fast_chat_lose_nothing_and_repeat_nothing() {
    let (house, _youtube) = with(fast()).await;
    pause();
    // Somebody stays, so that it is one room all the time.
    let mut stays = Viewer::enter(&house, VIDEO).await;
    let mut got = Got::default();
    let mut lots = 7u64;
    for _ in 0..100 {
        lots = lots.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Anywhere within a frame, within the head of the next one, or right behind one.
        got = Viewer::resume(&house, VIDEO, got).await.lose_after(1 + (lots >> 48) as usize).await;
        sleep(Duration::from_millis(lots >> 54)).await;
        // It reads, or it would be cut (C9).
        stays.until(|stays| stays.rows.last() >= got.rows.last()).await;
    }
    got.check();
    assert_eq!(got.count("gap"), 0);
    assert!(got.rows.len() > 10_000, "{} rows", got.rows.len());
    stays.got.check();
}

#[tokio::test]
async fn c8_past_the_rings_end_there_is_exactly_one_gap() {
    let (house, youtube) = with(fast()).await;
    pause();
    let _stays = Viewer::enter(&house, VIDEO).await;
    let mut viewer = Viewer::enter(&house, VIDEO).await;
    viewer.until(|got| got.rows.len() > 300).await;
    let before = viewer.got.rows.len();
    let got = viewer.lose_after(1).await;
    // 2,000 events are kept, which is 10 s of this chat.
    sleep(Duration::from_secs(30)).await;
    let mut viewer = Viewer::resume(&house, VIDEO, got).await;
    let newest = youtube.rows();
    viewer.until(|got| got.rows.last() > Some(&newest)).await;
    assert_eq!(viewer.got.count("gap"), 1);
    let (old, new) = viewer.got.rows.split_at(before);
    assert!(new[0] > old[old.len() - 1] + 1);
    assert!(new.windows(2).all(|pair| pair[1] == pair[0] + 1), "it goes on without another hole");
    // Whoever leaves behind the gap and comes back is not told again.
    let got = viewer.lose_after(1).await;
    let rows = got.rows.len();
    let mut viewer = Viewer::resume(&house, VIDEO, got).await;
    viewer.until(|got| got.rows.len() > rows + 300).await;
    assert_eq!(viewer.got.count("gap"), 1);
}

#[tokio::test]
async fn c8_an_id_of_another_life_is_one_gap_and_the_newest() {
    let (house, _youtube) = with(fast()).await;
    pause();
    for id in ["1-5", "no id of ours", "ffffffffffffffff-18446744073709551615"] {
        let got = Got { last_id: Some(id.to_owned()), ..Got::default() };
        let mut viewer = Viewer::resume(&house, VIDEO, got).await;
        viewer.until(|got| got.rows.len() > 300).await;
        assert_eq!(viewer.got.count("gap"), 1, "{id}");
        viewer.got.check();
    }
}

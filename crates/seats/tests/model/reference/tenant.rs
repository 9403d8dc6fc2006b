//! Streams and limits (S9–S13, S25).

use tidegate_seats::{Now, SettingsRefusal, StreamId, StreamRecord, StreamSettings, TurnKind};

use super::Reference;

impl Reference {
    pub(crate) fn open(&mut self, record: StreamRecord, now: Now) -> Result<(), SettingsRefusal> {
        self.bring_up_to(now);
        self.check(&record.settings)?;
        self.streams.push(record);
        Ok(())
    }

    pub(crate) fn change(
        &mut self,
        stream: &StreamId,
        settings: StreamSettings,
        now: Now,
    ) -> Result<(), SettingsRefusal> {
        self.bring_up_to(now);
        let record = self.stream(stream).ok_or(SettingsRefusal::StreamNotFound)?;
        if record.ended_at.is_some() {
            return Err(SettingsRefusal::StreamEnded);
        }
        self.check(&settings)?;
        let record = self.stream_mut(stream).expect("looked up before");
        let raised = settings.viewer_cap > record.settings.viewer_cap;
        record.settings = settings;
        self.withdraw_over_caps();
        self.deal(if raised { TurnKind::Hold } else { TurnKind::Offer });
        Ok(())
    }

    fn check(&self, settings: &StreamSettings) -> Result<(), SettingsRefusal> {
        match settings.viewer_cap > self.tenant_cap {
            true => Err(SettingsRefusal::OverTenantCap { limit: self.tenant_cap }),
            false => Ok(()),
        }
    }

    pub(crate) fn end(&mut self, stream: &StreamId, now: Now) -> bool {
        self.bring_up_to(now);
        let Some(record) = self.stream_mut(stream) else { return false };
        if record.ended_at.is_none() {
            record.ended_at = Some(now.unix_s);
            self.entries.retain(|entry| entry.stream != *stream);
            self.deal(TurnKind::Offer);
        }
        true
    }

    pub(crate) fn delete(&mut self, stream: &StreamId, now: Now) -> bool {
        self.bring_up_to(now);
        let there = self.stream(stream).is_some();
        self.streams.retain(|record| record.id != *stream);
        self.entries.retain(|entry| entry.stream != *stream);
        self.departed.retain(|departed| departed.stream != *stream);
        self.blocked.retain(|blocked| blocked.stream != *stream);
        self.deal(TurnKind::Offer);
        there
    }

    pub(crate) fn note_ingest_token(&mut self, stream: &StreamId, now: Now) -> bool {
        match self.stream_mut(stream) {
            Some(record) => {
                record.ingest_token_at = Some(now.unix_s);
                true
            }
            None => false,
        }
    }

    pub(crate) fn limit(&mut self, viewer_cap: u32, now: Now) {
        self.bring_up_to(now);
        let raised = viewer_cap > self.tenant_cap;
        self.tenant_cap = viewer_cap;
        self.withdraw_over_caps();
        self.deal(if raised { TurnKind::Hold } else { TurnKind::Offer });
    }
}

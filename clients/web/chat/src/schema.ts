// The schema of events as the server describes it (crates/chat/src/event). Not written by hand:
// `./x web --update` writes it, and `./x web` fails when it says anything else than the server does.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description What a status is about.
         * @enum {string}
         */
        About: "stream" | "room" | "notice" | "poll_result" | "held" | "moderation" | "filtered" | "fundraiser" | "restricted" | "closing";
        /** @description What was paid. */
        Amount: {
            /** @description Left out when the currency is not known: it is never guessed. */
            money?: components["schemas"]["Money"];
            /**
             * @description The number alone, with `.` before the decimals and nothing else: "1000". Left out when it cannot be read
             *     without a guess.
             */
            number?: string;
            /** @description As the upstream wrote it, unchanged: "¥1,000". */
            text: string;
        };
        /** @description Who wrote a row. */
        Author: {
            /** @description What the author is to this channel, in the upstream's order. */
            badges?: components["schemas"]["Badge"][];
            /** @description The author's channel: the only lasting name. Left out where the upstream tells none (gifts, fundraisers). */
            channel_id?: string;
            /**
             * @description What to show. A handle (`@x`) or a display name, and it may differ between two rows of one author, so it
             *     must never be used as a key. Left out for a channel without a name.
             */
            name?: string;
            /** @description The largest picture's address. */
            photo?: string;
        };
        /** @description All rows of one author are to go: a ban or a timeout. */
        AuthorRemoved: components["schemas"]["Words"] & {
            /** @description The author's channel. */
            channel_id: string;
        };
        /** @description One badge beside an author's name. */
        Badge: {
            /** @description What it stands for. */
            badge: components["schemas"]["BadgeKind"];
            /** @description The picture's address; member badges only. */
            image?: string;
            /** @description The upstream's words for it, in the language of the room: "Member (6 months)". */
            label?: string;
        };
        /**
         * @description What a badge stands for.
         * @enum {string}
         */
        BadgeKind: "owner" | "moderator" | "verified" | "member" | "other";
        /** @description Something above the chat. */
        Banner: components["schemas"]["Words"] & {
            /** @description What it is; left out when it is taken down. */
            banner?: components["schemas"]["BannerKind"];
            /** @description Names this banner: the one taken down has the id of the one shown. */
            banner_id: string;
            /** @description Shown or taken down. */
            change: components["schemas"]["BannerChange"];
            /** @description The line above it: "Pinned by @x". */
            header?: string;
            /** @description A copy of the pinned row, or the vote. */
            item?: components["schemas"]["Event"];
            /** @description The address it leads to, when that is no video. */
            link?: string;
            /**
             * Format: int64
             * @description How long it is shown, in milliseconds; left out when until it is taken down.
             */
            timeout_ms?: number;
            /** @description The video it leads to. */
            video_id?: string;
        };
        /**
         * @description What happened to a banner.
         * @enum {string}
         */
        BannerChange: "shown" | "removed";
        /**
         * @description What a banner is.
         * @enum {string}
         */
        BannerKind: "pinned" | "redirect" | "summary" | "poll" | "questions" | "other";
        /** @description One choice of a vote. */
        Choice: {
            /**
             * Format: double
             * @description Its share of the votes, 0 to 1; left out before the first count.
             */
            share?: number;
            /** @description Its words. */
            text: string;
        };
        /** @description An emoji. */
        Emoji: {
            /** @description What to read out. */
            alt?: string;
            /** @description Whether the channel made it: then only `url` shows it, and `shortcut` stands for it in text. */
            custom?: boolean;
            /** @description A standard emoji's characters, or a custom one's opaque id. */
            id?: string;
            /** @description What a writer types for it: `:_wave:`. */
            shortcut?: string;
            /** @description The largest picture's address; left out where the upstream withholds it. */
            url?: string;
        };
        /**
         * @description The codes of C5.
         * @enum {string}
         */
        ErrorCode: "RATE_LIMITED" | "ENDED" | "UPSTREAM_ERROR" | "GONE";
        /** @description One event of a live chat. */
        Event: components["schemas"]["Kind"] & {
            /**
             * Format: int64
             * @description When the row was sent: microseconds since 1970 UTC by the upstream's clock. A room fills in the time of
             *     receipt where the upstream told none.
             */
            at_us?: number;
            /**
             * @description The upstream's own id of the row: opaque, compared exactly, the same when the upstream repeats the row after
             *     a re-bootstrap. It names what `removed` and `replaced` aim at. Not the resume point, which is SSE's `id:`.
             */
            id?: string;
            /**
             * Format: int64
             * @description In the replay of a finished stream: milliseconds from the video's start; negative before it.
             */
            offset_ms?: number;
            /**
             * Format: int32
             * @description The version of this schema ([`SCHEMA`]).
             */
            schema: number;
        };
        /** @description Something went wrong (C5). */
        Failure: {
            /** @description Which kind. */
            code: components["schemas"]["ErrorCode"];
            /** @description Whether nothing more will come: the stream of events ends here. */
            final: boolean;
            /** @description For people. */
            message: string;
            /**
             * Format: int64
             * @description When to come back, in milliseconds from now.
             */
            retry_after_ms?: number;
        };
        /** @description Rows are missing here, between the event before and the one after. */
        Gap: {
            /**
             * Format: int64
             * @description How many, when that is known.
             */
            missed?: number;
        };
        /** @description Somebody gave something. */
        Gift: components["schemas"]["Words"] & {
            /** @description Who gave. */
            author: components["schemas"]["Author"];
            /**
             * Format: int32
             * @description How many memberships.
             */
            count?: number;
            /** @description What. */
            gift: components["schemas"]["GiftKind"];
            /** @description The gift's picture. */
            image?: string;
        };
        /**
         * @description What was given.
         * @enum {string}
         */
        GiftKind: "memberships" | "jewels";
        /** @description Somebody got a membership as a gift. */
        GiftReceived: components["schemas"]["Words"] & {
            /** @description Who got it. */
            author: components["schemas"]["Author"];
            /** @description Who gave it: a shown name, not a channel id. */
            giver?: string;
        };
        /** @description The kinds of events (C7). `kind` in JSON is also SSE's `event:`. */
        Kind: (components["schemas"]["Message"] & {
            /** @enum {string} */
            kind: "message";
        }) | (components["schemas"]["Paid"] & {
            /** @enum {string} */
            kind: "paid";
        }) | (components["schemas"]["Sticker"] & {
            /** @enum {string} */
            kind: "sticker";
        }) | (components["schemas"]["Membership"] & {
            /** @enum {string} */
            kind: "membership";
        }) | (components["schemas"]["Gift"] & {
            /** @enum {string} */
            kind: "gift";
        }) | (components["schemas"]["GiftReceived"] & {
            /** @enum {string} */
            kind: "gift_received";
        }) | (components["schemas"]["Ticker"] & {
            /** @enum {string} */
            kind: "ticker";
        }) | (components["schemas"]["Banner"] & {
            /** @enum {string} */
            kind: "banner";
        }) | (components["schemas"]["Poll"] & {
            /** @enum {string} */
            kind: "poll";
        }) | (components["schemas"]["Removed"] & {
            /** @enum {string} */
            kind: "removed";
        }) | (components["schemas"]["AuthorRemoved"] & {
            /** @enum {string} */
            kind: "author_removed";
        }) | (components["schemas"]["Mode"] & {
            /** @enum {string} */
            kind: "mode";
        }) | (components["schemas"]["Replaced"] & {
            /** @enum {string} */
            kind: "replaced";
        }) | (components["schemas"]["ViewerCount"] & {
            /** @enum {string} */
            kind: "viewer_count";
        }) | (components["schemas"]["Status"] & {
            /** @enum {string} */
            kind: "status";
        }) | (components["schemas"]["Gap"] & {
            /** @enum {string} */
            kind: "gap";
        }) | (components["schemas"]["Failure"] & {
            /** @enum {string} */
            kind: "error";
        }) | (components["schemas"]["Unknown"] & {
            /** @enum {string} */
            kind: "unknown";
        });
        /** @description A new member, a milestone, or an upgrade. */
        Membership: components["schemas"]["Words"] & {
            /** @description Who. */
            author: components["schemas"]["Author"];
            /** @description The upstream's sentence, in the language of the room: "Welcome to The Club!" */
            header?: string;
            /** @description The channel's name for this kind of membership, where it stands by itself in the upstream's answer. */
            level?: string;
            /**
             * Format: int32
             * @description For a milestone: how many months.
             */
            months?: number;
            /** @description What happened. */
            step: components["schemas"]["Step"];
        };
        /** @description Somebody wrote something. */
        Message: components["schemas"]["Words"] & {
            /** @description Who. */
            author: components["schemas"]["Author"];
            /**
             * Format: int32
             * @description The author's place on the channel's leaderboard, where it is shown: 1 is the first.
             */
            rank?: number;
        };
        /** @description The chat's mode changed. */
        Mode: components["schemas"]["Words"] & {
            /** @description Which mode it is about. Whether it was turned on or off stands in the text alone. */
            mode: components["schemas"]["ModeKind"];
            /** @description The upstream's second line. */
            note?: string;
        };
        /**
         * @description Which mode.
         * @enum {string}
         */
        ModeKind: "slow" | "members_only" | "subscribers_only" | "open" | "other";
        /** @description An amount in a known currency. */
        Money: {
            /** @description ISO 4217: "JPY". */
            currency: string;
            /**
             * Format: int64
             * @description In the currency's minor unit: cents for USD, whole yen for JPY.
             */
            minor: number;
            /**
             * Format: int32
             * @description How many of `minor`'s digits stand after the decimal point: 2 for USD, 0 for JPY (ISO 4217).
             */
            minor_digits: number;
        };
        /** @description A paid message (Super Chat). */
        Paid: components["schemas"]["Words"] & {
            /** @description How much. */
            amount: components["schemas"]["Amount"];
            /** @description Who paid. */
            author: components["schemas"]["Author"];
            /** @description The body's background, `#rrggbb`. */
            body_color?: string;
            /** @description The head's background, `#rrggbb`. */
            color?: string;
            /**
             * Format: int32
             * @description The price band, 1 (blue) to 7 (red), read from the colour.
             */
            tier?: number;
        };
        /** @description A vote of the viewers. */
        Poll: {
            /** @description What happened. */
            change: components["schemas"]["PollChange"];
            /** @description What can be chosen, in order; empty when the vote closes. */
            choices?: components["schemas"]["Choice"][];
            /** @description Names this vote in all its events. */
            poll_id: string;
            /** @description What is asked; left out where the channel gave no question, and when the vote closes. */
            question?: string;
            /**
             * Format: int64
             * @description How many have voted.
             */
            votes?: number;
        };
        /**
         * @description What happened to a vote.
         * @enum {string}
         */
        PollChange: "opened" | "updated" | "closed";
        /** @description A row was taken back or deleted. */
        Removed: components["schemas"]["Words"] & {
            /** @description The row's `id`. It may be one that was never seen. */
            target_id: string;
        };
        /** @description A row turned into another one, at the same place. */
        Replaced: {
            /** @description The row that comes: a `status` about `held` while a message waits for review. */
            item: components["schemas"]["Event"];
            /** @description The `id` of the row that goes. */
            target_id: string;
        };
        /** @description One part of a text. */
        Run: (components["schemas"]["TextRun"] & {
            /** @enum {string} */
            run: "text";
        }) | (components["schemas"]["Emoji"] & {
            /** @enum {string} */
            run: "emoji";
        });
        /** @description A word of the upstream or of the room itself. */
        Status: components["schemas"]["Words"] & {
            /** @description What it is about. */
            about: components["schemas"]["About"];
            /** @description The row that it is about. */
            item?: components["schemas"]["Event"];
            /** @description Where its button leads. */
            link?: string;
            /** @description A second line. */
            note?: string;
            /** @description The stream's state, when it is about the stream. */
            stream?: components["schemas"]["StreamStatus"];
        };
        /**
         * @description What happened to a membership.
         * @enum {string}
         */
        Step: "joined" | "milestone" | "upgraded";
        /** @description A paid sticker (Super Sticker). */
        Sticker: {
            /** @description What the picture shows, to be read out. */
            alt?: string;
            /** @description How much. */
            amount: components["schemas"]["Amount"];
            /** @description Who paid. */
            author: components["schemas"]["Author"];
            /** @description The background, `#rrggbb`. */
            color?: string;
            /** @description The largest picture's address. */
            image?: string;
            /**
             * Format: int32
             * @description The price band, 1 to 7, as for a paid message.
             */
            tier?: number;
        };
        /**
         * @description Where a stream stands.
         * @enum {string}
         */
        StreamState: "live" | "upcoming" | "ended" | "not_a_stream" | "chat_disabled" | "members_only" | "private" | "age_restricted" | "sign_in_required" | "unavailable";
        /** @description What is known of the stream itself. */
        StreamStatus: {
            /** @description The channel's name. */
            channel?: string;
            /** @description The channel's id. */
            channel_id?: string;
            /**
             * Format: int64
             * @description When it is to start or started: seconds since 1970 UTC.
             */
            starts_s?: number;
            /** @description Where it stands. */
            state: components["schemas"]["StreamState"];
            /** @description The video's title. */
            title?: string;
            /** @description The video's id. */
            video_id?: string;
        };
        /** @description A part of letters, all with one look. */
        TextRun: {
            /** @description Shown bold. */
            bold?: boolean;
            /** @description Shown in italics. */
            italics?: boolean;
            /**
             * @description Where it leads: an absolute `http` or `https` address, with the upstream's redirect taken off. The text of a
             *     link may be a shortened form of it.
             */
            link?: string;
            /** @description The letters; a line break is `\n`. */
            text: string;
        };
        /** @description A chip above the chat. Its `id` is that of the row it copies. */
        Ticker: components["schemas"]["Words"] & {
            /** @description The amount on the chip, where it carries no copy that says so. */
            amount?: components["schemas"]["Amount"];
            /** @description Who it is about, where it carries no copy that says so. */
            author?: components["schemas"]["Author"];
            /**
             * Format: int32
             * @description How long it is still shown, in seconds from now.
             */
            duration_s?: number;
            /**
             * Format: int32
             * @description How long it is shown altogether, in seconds.
             */
            full_duration_s?: number;
            /** @description A copy of the row: not another purchase. */
            item?: components["schemas"]["Event"];
        };
        /** @description Something of the upstream that this version does not know or cannot read. It never ends a room (C7). */
        Unknown: {
            /** @description What the upstream sent; left out when it is large. */
            raw?: unknown;
            /** @description The upstream's name for it. */
            raw_kind: string;
            /** @description Why it is not a kind of its own. */
            reason: components["schemas"]["UnknownReason"];
        };
        /**
         * @description Why something is `unknown`.
         * @enum {string}
         */
        UnknownReason: "unknown_kind" | "unreadable";
        /** @description How many are watching. */
        ViewerCount: {
            /**
             * Format: int64
             * @description As the upstream counts them.
             */
            viewers: number;
        };
        /** @description A text. In JSON its two fields stand directly in the event. */
        Words: {
            /** @description The parts, only where they say more than `text`: emoji, links, emphasis. Shown in this order they are the text. */
            runs?: components["schemas"]["Run"][];
            /**
             * @description The whole as plain text, in logical order and not otherwise touched: right-to-left letters, joiners and
             *     direction marks are as sent. A custom emoji stands as its shortcut (`:_wave:`). Empty when nothing was written.
             */
            text?: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type About = components['schemas']['About'];
export type Amount = components['schemas']['Amount'];
export type Author = components['schemas']['Author'];
export type AuthorRemoved = components['schemas']['AuthorRemoved'];
export type Badge = components['schemas']['Badge'];
export type BadgeKind = components['schemas']['BadgeKind'];
export type Banner = components['schemas']['Banner'];
export type BannerChange = components['schemas']['BannerChange'];
export type BannerKind = components['schemas']['BannerKind'];
export type Choice = components['schemas']['Choice'];
export type Emoji = components['schemas']['Emoji'];
export type ErrorCode = components['schemas']['ErrorCode'];
export type Event = components['schemas']['Event'];
export type Failure = components['schemas']['Failure'];
export type Gap = components['schemas']['Gap'];
export type Gift = components['schemas']['Gift'];
export type GiftKind = components['schemas']['GiftKind'];
export type GiftReceived = components['schemas']['GiftReceived'];
export type Kind = components['schemas']['Kind'];
export type Membership = components['schemas']['Membership'];
export type Message = components['schemas']['Message'];
export type Mode = components['schemas']['Mode'];
export type ModeKind = components['schemas']['ModeKind'];
export type Money = components['schemas']['Money'];
export type Paid = components['schemas']['Paid'];
export type Poll = components['schemas']['Poll'];
export type PollChange = components['schemas']['PollChange'];
export type Removed = components['schemas']['Removed'];
export type Replaced = components['schemas']['Replaced'];
export type Run = components['schemas']['Run'];
export type Status = components['schemas']['Status'];
export type Step = components['schemas']['Step'];
export type Sticker = components['schemas']['Sticker'];
export type StreamState = components['schemas']['StreamState'];
export type StreamStatus = components['schemas']['StreamStatus'];
export type TextRun = components['schemas']['TextRun'];
export type Ticker = components['schemas']['Ticker'];
export type Unknown = components['schemas']['Unknown'];
export type UnknownReason = components['schemas']['UnknownReason'];
export type ViewerCount = components['schemas']['ViewerCount'];
export type Words = components['schemas']['Words'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;

/** Why a client waits or has ended. */
export interface Reason {
  /**
   * The server's own code where it gave one (`rate_limited`, `video_not_found`, `ENDED`), else one of `unreachable`,
   * `connection_lost`, `silent`, `not_a_stream`, `http_404`…; `closed` and `aborted` are this side's own doing.
   */
  code: string;
  /** For people. */
  message: string;
  /** The HTTP status, where the stream did not open. */
  status?: number;
}

/** How a client is. */
export type ChatState =
  | { name: 'connecting' }
  /** `limitedUntil`: the room itself waits, because the upstream wants fewer calls; it goes on by itself. */
  | { name: 'open'; limitedUntil?: Date }
  /** `until`: when the next try is made. */
  | { name: 'waiting'; reason: Reason; until: Date }
  | { name: 'ended'; reason: Reason };

/** What a client has counted since it was made. */
export interface Counts {
  /** Events that were handed to listeners. */
  events: number;
  /** Streams that opened. */
  opened: number;
  /** How often it was told to call less: answers of 429, and `RATE_LIMITED` events. */
  rateLimits: number;
  /** Everything else that went wrong: lost connections, 5xx, what could not be read. */
  errors: number;
}

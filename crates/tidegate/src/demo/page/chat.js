// ../node_modules/eventsource-parser/dist/index.js
var ParseError = class extends Error {
	constructor(message, options) {
		super(message), this.name = "ParseError", this.type = options.type, this.field = options.field, this.value = options.value, this.line = options.line;
	}
};
var LF = 10;
var CR = 13;
var SPACE = 32;
function noop(_arg) {}
function createParser(config) {
	if (typeof config == "function") throw new TypeError("`config` must be an object, got a function instead. Did you mean `createParser({onEvent: fn})`?");
	const { onEvent = noop, onError = noop, onRetry = noop, onComment, maxBufferSize } = config, pendingFragments = [];
	let pendingFragmentsLength = 0, isFirstChunk = !0, id, data = "", dataLines = 0, eventType, terminated = !1;
	function feed(chunk) {
		if (terminated) throw new Error("Cannot feed parser: it was terminated after exceeding the configured max buffer size. Call `reset()` to resume parsing.");
		if (isFirstChunk && (isFirstChunk = !1, chunk.charCodeAt(0) === 239 && chunk.charCodeAt(1) === 187 && chunk.charCodeAt(2) === 191 && (chunk = chunk.slice(3))), pendingFragments.length === 0) {
			const trailing2 = processLines(chunk);
			trailing2 !== "" && (pendingFragments.push(trailing2), pendingFragmentsLength = trailing2.length), checkBufferSize();
			return;
		}
		if (chunk.indexOf(`
`) === -1 && chunk.indexOf("\r") === -1) {
			pendingFragments.push(chunk), pendingFragmentsLength += chunk.length, checkBufferSize();
			return;
		}
		pendingFragments.push(chunk);
		const input = pendingFragments.join("");
		pendingFragments.length = 0, pendingFragmentsLength = 0;
		const trailing = processLines(input);
		trailing !== "" && (pendingFragments.push(trailing), pendingFragmentsLength = trailing.length), checkBufferSize();
	}
	function checkBufferSize() {
		maxBufferSize !== void 0 && (pendingFragmentsLength + data.length <= maxBufferSize || (terminated = !0, pendingFragments.length = 0, pendingFragmentsLength = 0, id = void 0, data = "", dataLines = 0, eventType = void 0, onError(new ParseError(`Buffered data exceeded max buffer size of ${maxBufferSize} characters`, { type: "max-buffer-size-exceeded" }))));
	}
	function processLines(chunk) {
		let searchIndex = 0;
		if (chunk.indexOf("\r") === -1) {
			let lfIndex = chunk.indexOf(`
`, searchIndex);
			for (; lfIndex !== -1;) {
				if (searchIndex === lfIndex) {
					dataLines > 0 && onEvent({
						id,
						event: eventType,
						data
					}), id = void 0, data = "", dataLines = 0, eventType = void 0, searchIndex = lfIndex + 1, lfIndex = chunk.indexOf(`
`, searchIndex);
					continue;
				}
				const firstCharCode = chunk.charCodeAt(searchIndex);
				if (isDataPrefix(chunk, searchIndex, firstCharCode)) {
					const valueStart = chunk.charCodeAt(searchIndex + 5) === SPACE ? searchIndex + 6 : searchIndex + 5, value = chunk.slice(valueStart, lfIndex);
					if (dataLines === 0 && chunk.charCodeAt(lfIndex + 1) === LF) {
						onEvent({
							id,
							event: eventType,
							data: value
						}), id = void 0, data = "", eventType = void 0, searchIndex = lfIndex + 2, lfIndex = chunk.indexOf(`
`, searchIndex);
						continue;
					}
					data = dataLines === 0 ? value : `${data}
${value}`, dataLines++;
				} else isEventPrefix(chunk, searchIndex, firstCharCode) ? eventType = chunk.slice(chunk.charCodeAt(searchIndex + 6) === SPACE ? searchIndex + 7 : searchIndex + 6, lfIndex) || void 0 : parseLine(chunk, searchIndex, lfIndex);
				searchIndex = lfIndex + 1, lfIndex = chunk.indexOf(`
`, searchIndex);
			}
			return chunk.slice(searchIndex);
		}
		for (; searchIndex < chunk.length;) {
			const crIndex = chunk.indexOf("\r", searchIndex), lfIndex = chunk.indexOf(`
`, searchIndex);
			let lineEnd = -1;
			if (crIndex !== -1 && lfIndex !== -1 ? lineEnd = crIndex < lfIndex ? crIndex : lfIndex : crIndex !== -1 ? crIndex === chunk.length - 1 ? lineEnd = -1 : lineEnd = crIndex : lfIndex !== -1 && (lineEnd = lfIndex), lineEnd === -1) break;
			parseLine(chunk, searchIndex, lineEnd), searchIndex = lineEnd + 1, chunk.charCodeAt(searchIndex - 1) === CR && chunk.charCodeAt(searchIndex) === LF && searchIndex++;
		}
		return chunk.slice(searchIndex);
	}
	function parseLine(chunk, start, end) {
		if (start === end) {
			dispatchEvent();
			return;
		}
		const firstCharCode = chunk.charCodeAt(start);
		if (isDataPrefix(chunk, start, firstCharCode)) {
			const valueStart = chunk.charCodeAt(start + 5) === SPACE ? start + 6 : start + 5, value2 = chunk.slice(valueStart, end);
			data = dataLines === 0 ? value2 : `${data}
${value2}`, dataLines++;
			return;
		}
		if (isEventPrefix(chunk, start, firstCharCode)) {
			eventType = chunk.slice(chunk.charCodeAt(start + 6) === SPACE ? start + 7 : start + 6, end) || void 0;
			return;
		}
		if (firstCharCode === 105 && chunk.charCodeAt(start + 1) === 100 && chunk.charCodeAt(start + 2) === 58) {
			const value2 = chunk.slice(chunk.charCodeAt(start + 3) === SPACE ? start + 4 : start + 3, end);
			value2.includes("\0") || (id = value2);
			return;
		}
		if (firstCharCode === 58) {
			if (onComment) {
				const line2 = chunk.slice(start, end);
				onComment(line2.slice(chunk.charCodeAt(start + 1) === SPACE ? 2 : 1));
			}
			return;
		}
		const line = chunk.slice(start, end), fieldSeparatorIndex = line.indexOf(":");
		if (fieldSeparatorIndex === -1) {
			processField(line, "", line);
			return;
		}
		const field = line.slice(0, fieldSeparatorIndex), offset = line.charCodeAt(fieldSeparatorIndex + 1) === SPACE ? 2 : 1;
		processField(field, line.slice(fieldSeparatorIndex + offset), line);
	}
	function processField(field, value, line) {
		switch (field) {
			case "event":
				eventType = value || void 0;
				break;
			case "data":
				data = dataLines === 0 ? value : `${data}
${value}`, dataLines++;
				break;
			case "id":
				value.includes("\0") || (id = value);
				break;
			case "retry":
				/^\d+$/.test(value) ? onRetry(parseInt(value, 10)) : onError(new ParseError(`Invalid \`retry\` value: "${value}"`, {
					type: "invalid-retry",
					value,
					line
				}));
				break;
			default: onError(new ParseError(`Unknown field "${field.length > 20 ? `${field.slice(0, 20)}\u2026` : field}"`, {
				type: "unknown-field",
				field,
				value,
				line
			}));
		}
	}
	function dispatchEvent() {
		dataLines > 0 && onEvent({
			id,
			event: eventType,
			data
		}), id = void 0, data = "", dataLines = 0, eventType = void 0;
	}
	function reset(options = {}) {
		if (options.consume && pendingFragments.length > 0) {
			const incompleteLine = pendingFragments.join("");
			parseLine(incompleteLine, 0, incompleteLine.length);
		}
		isFirstChunk = !0, id = void 0, data = "", dataLines = 0, eventType = void 0, pendingFragments.length = 0, pendingFragmentsLength = 0, terminated = !1;
	}
	return {
		feed,
		reset
	};
}
function isDataPrefix(chunk, i, firstCharCode) {
	return firstCharCode === 100 && chunk.charCodeAt(i + 1) === 97 && chunk.charCodeAt(i + 2) === 116 && chunk.charCodeAt(i + 3) === 97 && chunk.charCodeAt(i + 4) === 58;
}
function isEventPrefix(chunk, i, firstCharCode) {
	return firstCharCode === 101 && chunk.charCodeAt(i + 1) === 118 && chunk.charCodeAt(i + 2) === 101 && chunk.charCodeAt(i + 3) === 110 && chunk.charCodeAt(i + 4) === 116 && chunk.charCodeAt(i + 5) === 58;
}
// src/retry_after.ts
/**
* The wait that a `Retry-After` header asks for, in milliseconds: whole seconds or an HTTP date (RFC 9110). A date
* counts from the server's own clock (`Date`) where that is told, so that a wrong one here does no harm.
*/
function retryAfter(headers, wallMs) {
	const told = headers.get("retry-after")?.trim();
	if (told === void 0) return void 0;
	if (/^\d+$/.test(told)) return Math.min(Number(told) * 1e3, LONGEST_WAIT_MS);
	const until = httpDate(told);
	if (until === void 0) return void 0;
	const now = httpDate(headers.get("date")?.trim() ?? "") ?? wallMs;
	return Math.min(Math.max(until - now, 0), LONGEST_WAIT_MS);
}
/** Nothing but a date: `Date.parse` alone would take "-1" for one. */
function httpDate(text) {
	if (!/^[A-Z][a-z]+,? .*\d\d:\d\d:\d\d/.test(text)) return void 0;
	const ms = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
	return Number.isNaN(ms) ? void 0 : ms;
}
/** Nobody means more than a day; a slip of units must not put a page to sleep for a year. */
var LONGEST_WAIT_MS = 864e5;
// src/answer.ts
/** What an answer that is no stream of events means. Takes its body. */
async function refusal(response, wallMs) {
	const problem = await readProblem(response);
	const { status } = response;
	const reason = {
		code: typeof problem.code === "string" ? problem.code : `http_${status}`,
		message: typeof problem.detail === "string" ? problem.detail : `the server answered ${status}`,
		status
	};
	if (response.ok) return {
		name: "over",
		reason: {
			code: "not_a_stream",
			message: `the address gives ${response.headers.get("content-type") ?? "nothing"}, no events`,
			status
		}
	};
	const told = [retryAfter(response.headers, wallMs), milliseconds(problem.retry_after_ms)].filter((wait) => wait !== void 0);
	const retryAfterMs = told.length > 0 ? Math.max(...told) : void 0;
	if (status === 429) return {
		name: "limited",
		reason,
		retryAfterMs
	};
	return heals(status) ? {
		name: "failed",
		reason,
		retryAfterMs
	} : {
		name: "over",
		reason
	};
}
/** A wait that a body tells. Pages of other origins see it there alone: `Retry-After` is hidden from them. */
function milliseconds(told) {
	return typeof told === "number" && Number.isFinite(told) && told >= 0 ? Math.min(told, LONGEST_WAIT_MS) : void 0;
}
/** The server's troubles and a request that came too slowly or too early; what is wrong with the request stays so. */
function heals(status) {
	return status >= 500 || status === 408 || status === 425;
}
async function readProblem(response) {
	const type = response.headers.get("content-type") ?? "";
	if (!/^application\/(problem\+)?json\b/.test(type)) {
		await response.body?.cancel();
		return {};
	}
	const body = await response.json().catch(() => ({}));
	return typeof body === "object" && body !== null ? body : {};
}
// src/backoff.ts
/**
* Milliseconds to the next try: never before what was told, twice as long with each failure, and later by up to one
* base, because everybody lost the connection at the same moment and would come back at the same one.
*/
function backoff({ baseMs, failures, toldMs, random }) {
	const grown = Math.min(baseMs * 2 ** Math.min(failures, 16), Math.max(baseMs, LONGEST_BACKOFF_MS));
	return Math.max(grown, toldMs) + random * Math.min(grown, baseMs * 4);
}
/** A server that is back is found within about a minute. */
var LONGEST_BACKOFF_MS = 6e4;
// src/clock.ts
/** The clock of this machine. */
var systemClock = {
	monotonic: () => performance.now(),
	wall: () => Date.now(),
	async sleep(ms, signal) {
		const due = performance.now() + ms;
		while (!signal.aborted) {
			const left = due - performance.now();
			if (left <= 0) return;
			await nap(Math.min(left, LONGEST_TIMER_MS), signal);
		}
	}
};
function nap(ms, signal) {
	return new Promise((resolve) => {
		const done = () => {
			clearTimeout(timer);
			signal.removeEventListener("abort", done);
			resolve();
		};
		const timer = setTimeout(done, ms);
		signal.addEventListener("abort", done);
	});
}
/** A longer `setTimeout` fires at once. */
var LONGEST_TIMER_MS = 2 ** 31 - 1;
// src/events.ts
/** Whether something that came over the wire looks like an event. What is in it is the server's word. */
function isEvent(value) {
	return typeof value === "object" && value !== null && "kind" in value && typeof value.kind === "string";
}
/** Whether this error says that nothing will ever come again: who asks anew is told the same. */
function isTheEnd(failure) {
	return failure.final && !HEALS.includes(failure.code);
}
/** After these a room can be opened again later. */
var HEALS = ["RATE_LIMITED", "UPSTREAM_ERROR"];
// src/listeners.ts
/** What listens to what. One that throws costs the others nothing: its error is the page's, as with any event. */
var Listeners = class {
	#sets = /* @__PURE__ */ new Map();
	add(name, listener) {
		const set = this.#sets.get(name) ?? /* @__PURE__ */ new Set();
		this.#sets.set(name, set.add(listener));
	}
	remove(name, listener) {
		this.#sets.get(name)?.delete(listener);
	}
	tell(name, what) {
		for (const listener of [...this.#sets.get(name) ?? []]) try {
			listener(what);
		} catch (error) {
			queueMicrotask(() => {
				throw error;
			});
		}
	}
};
// src/client.ts
/**
* Reads a live chat: `GET /v1/chat/{name}/events` of a Tidegate server.
*
* ```ts
* const chat = new ChatClient('http://localhost:8080/v1/chat/VIDEO/events');
* chat.on('message', (message) => console.log(message.author.name, message.text));
* chat.on('state', (state) => console.log(state.name));
* ```
*
* It begins by itself once the code that made it has run, so that no listener comes too late. A connection that is
* lost is made anew behind the last event (`Last-Event-ID`): nothing twice, and where something is missing, a `gap`
* says so. What the server says of when to come back is kept to, whichever way it says it.
*
* ```text
*  connecting ──▶ open ──▶ waiting ──▶ connecting …
*       │          │ ▲        ▲
*       │          └─┴ limitedUntil: the room waits, the connection stays
*       ├── 429, 5xx, unreachable ────┘
*       └── 4xx, a final error, close() ──▶ ended
* ```
*/
var ChatClient = class {
	/** What it has counted. */
	counts = {
		events: 0,
		opened: 0,
		rateLimits: 0,
		errors: 0
	};
	#url;
	#headers;
	#fetch;
	#clock;
	#random;
	#silenceMs;
	#listeners = new Listeners();
	/** Ends everything: what is under way, and each wait. */
	#end = new AbortController();
	#state = { name: "connecting" };
	#lastEventId;
	#retryMs = RETRY_MS;
	/** Until when no connection is made, whatever becomes of the one there is. */
	#limitedUntil = 0;
	/** Errors since something last arrived. */
	#failures = 0;
	/** Throws a `TypeError` where `url` is none. A page may leave out its own origin. */
	constructor(url, options = {}) {
		this.#url = new URL(url, globalThis.location?.href);
		this.#headers = { ...options.headers };
		this.#fetch = options.fetch ?? ((...request) => fetch(...request));
		this.#clock = options.clock ?? systemClock;
		this.#random = options.random ?? Math.random;
		this.#silenceMs = options.silenceMs ?? SILENCE_MS;
		this.#lastEventId = options.lastEventId;
		const { signal } = options;
		const abort = () => this.#finish({
			code: "aborted",
			message: "the signal was aborted"
		});
		signal?.addEventListener("abort", abort, {
			once: true,
			signal: this.#end.signal
		});
		queueMicrotask(() => {
			if (signal?.aborted) abort();
			this.#run();
		});
	}
	/** How it is. */
	get state() {
		return this.#state;
	}
	/** The resume point behind the last event, to go on from in another client. */
	get lastEventId() {
		return this.#lastEventId;
	}
	/** Calls `listener` for each event of a kind, for every `event`, or at each change of `state`. */
	on(name, listener) {
		this.#listeners.add(name, listener);
		return this;
	}
	/** Takes a listener away. */
	off(name, listener) {
		this.#listeners.remove(name, listener);
		return this;
	}
	/** Leaves the chat. Nothing more is told but the last state. */
	close() {
		this.#finish({
			code: "closed",
			message: "the client was closed"
		});
	}
	async #run() {
		while (!this.#end.signal.aborted) {
			this.#become({ name: "connecting" });
			const outcome = await this.#connect();
			if (this.#end.signal.aborted) return;
			if (outcome.name === "over") return this.#finish(outcome.reason);
			const wait = this.#waitAfter(outcome);
			this.#become({
				name: "waiting",
				reason: outcome.reason,
				until: new Date(this.#clock.wall() + wait)
			});
			await this.#clock.sleep(wait, this.#end.signal);
		}
	}
	#waitAfter(outcome) {
		if (outcome.name === "limited") this.#noteLimit(outcome.retryAfterMs);
		else this.counts.errors += 1;
		const toldMs = Math.max(outcome.retryAfterMs ?? 0, this.#limitedUntil - this.#clock.monotonic());
		const failures = outcome.name === "limited" ? 0 : this.#failures++;
		return backoff({
			baseMs: this.#retryMs,
			failures,
			toldMs,
			random: this.#random()
		});
	}
	#noteLimit(retryAfterMs = LIMIT_MS) {
		this.counts.rateLimits += 1;
		this.#limitedUntil = Math.max(this.#limitedUntil, this.#clock.monotonic() + retryAfterMs);
		return retryAfterMs;
	}
	/** One connection, from the request to its end. */
	async #connect() {
		const attempt = new AbortController();
		const { signal } = attempt;
		this.#end.signal.addEventListener("abort", () => attempt.abort(), { signal });
		const id = this.#lastEventId;
		const resume = id === void 0 ? {} : { "Last-Event-ID": id };
		const headers = {
			...this.#headers,
			Accept: "text/event-stream",
			...resume
		};
		try {
			const response = await this.#fetch(this.#url, {
				headers,
				signal,
				cache: "no-store"
			});
			const type = response.headers.get("content-type") ?? "";
			if (response.status !== 200 || !type.startsWith("text/event-stream") || response.body === null) return await refusal(response, this.#clock.wall());
			this.counts.opened += 1;
			this.#become({ name: "open" });
			return await this.#read(response.body, attempt);
		} catch (error) {
			return failed("unreachable", `the server cannot be reached: ${inWords$1(error)}`);
		} finally {
			attempt.abort();
		}
	}
	async #read(body, attempt) {
		let last;
		const parser = createParser({
			maxBufferSize: LONGEST_EVENT,
			onRetry: (ms) => {
				this.#retryMs = Math.min(Math.max(ms, SHORTEST_RETRY_MS), LONGEST_RETRY_MS);
			},
			onEvent: (message) => {
				if (this.#end.signal.aborted || last !== void 0) return;
				last = this.#take(message, attempt.signal);
			}
		});
		const decoder = new TextDecoder();
		const reader = body.getReader();
		const silence = new Silence(this.#clock, this.#silenceMs, attempt);
		try {
			while (last === void 0) {
				const { done, value } = await reader.read();
				if (done) return failed("connection_lost", "the server ended the stream");
				silence.broken();
				parser.feed(decoder.decode(value, { stream: true }));
			}
			return last;
		} catch (error) {
			if (silence.isOver) return failed("silent", `nothing came for ${this.#silenceMs / 1e3} s`);
			return failed("connection_lost", `the connection was lost: ${inWords$1(error)}`);
		}
	}
	/** Hands one event on. What ends the stream comes back. */
	#take(message, connection) {
		if (message.id !== void 0) this.#lastEventId = message.id;
		const event = parse(message.data);
		if (event === void 0) {
			this.counts.errors += 1;
			return;
		}
		this.counts.events += 1;
		if (event.kind !== "error") this.#failures = 0;
		const outcome = event.kind === "error" ? this.#heed(event, connection) : void 0;
		this.#listeners.tell("event", event);
		this.#listeners.tell(event.kind, event);
		return outcome;
	}
	#heed(failure, connection) {
		const reason = {
			code: failure.code,
			message: failure.message
		};
		const retryAfterMs = milliseconds(failure.retry_after_ms);
		if (isTheEnd(failure)) return {
			name: "over",
			reason
		};
		if (failure.final) return {
			name: failure.code === "RATE_LIMITED" ? "limited" : "failed",
			reason,
			retryAfterMs
		};
		if (failure.code === "RATE_LIMITED") this.#holdRoom(this.#noteLimit(retryAfterMs), connection);
	}
	/** Says that the room waits, and when it no longer does. */
	async #holdRoom(ms, connection) {
		const state = {
			name: "open",
			limitedUntil: new Date(this.#clock.wall() + ms)
		};
		this.#become(state);
		await this.#clock.sleep(ms, connection);
		if (this.#state === state && !connection.aborted) this.#become({ name: "open" });
	}
	#finish(reason) {
		if (this.#end.signal.aborted) return;
		this.#end.abort();
		this.#become({
			name: "ended",
			reason
		});
	}
	#become(state) {
		this.#state = state;
		this.#listeners.tell("state", state);
	}
};
/** Ends a connection on which nothing comes: a lost one says nothing of it. */
var Silence = class {
	isOver = false;
	#clock;
	#brokenAt;
	constructor(clock, ms, connection) {
		this.#clock = clock;
		this.#brokenAt = clock.monotonic();
		this.#watch(ms, connection);
	}
	broken() {
		this.#brokenAt = this.#clock.monotonic();
	}
	async #watch(ms, connection) {
		while (!connection.signal.aborted) {
			const left = this.#brokenAt + ms - this.#clock.monotonic();
			if (left <= 0) {
				this.isOver = true;
				return connection.abort();
			}
			await this.#clock.sleep(left, connection.signal);
		}
	}
};
function parse(data) {
	try {
		const value = JSON.parse(data);
		return isEvent(value) ? value : void 0;
	} catch {
		return;
	}
}
function failed(code, message) {
	return {
		name: "failed",
		reason: {
			code,
			message
		},
		retryAfterMs: void 0
	};
}
/** Node says what really happened in the cause. */
function inWords$1(error) {
	if (!(error instanceof Error)) return String(error);
	return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}
/** Between a loss and the first try until the server says otherwise; what Tidegate says too. */
var RETRY_MS = 3e3;
/** A server that writes 0 wants its viewers back quickly, and not a loop. */
var SHORTEST_RETRY_MS = 250;
var LONGEST_RETRY_MS = 6e5;
/** A rate limit that says nothing of time. The gate waits as long. */
var LIMIT_MS = 3e4;
/** Tidegate says something every 15 s. */
var SILENCE_MS = 45e3;
/** Characters; Tidegate's largest events have some ten thousand. */
var LONGEST_EVENT = 8 << 20;
// page/log.ts
/** The list of rows. It stays at the newest one, unless somebody has scrolled away from it. */
var Log = class {
	#list;
	#newest;
	#follows = true;
	#top = 0;
	constructor(list, newest) {
		this.#list = list;
		this.#newest = newest;
		list.addEventListener("scroll", () => {
			const isNear = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_PX;
			const goesUp = list.scrollTop < this.#top;
			this.#follows = isNear || this.#follows && !goesUp;
			this.#top = list.scrollTop;
			newest.hidden = this.#follows;
		});
		new ResizeObserver(() => this.#follows && this.#scroll()).observe(list);
		newest.addEventListener("click", () => this.#scroll());
	}
	add(row) {
		this.#list.append(row);
		while (this.#follows && this.#list.childElementCount > MAX_ROWS) this.#list.firstElementChild?.remove();
		if (this.#follows) this.#scroll();
	}
	remove(id) {
		this.#find("id", id).forEach((row) => {
			row.remove();
		});
	}
	removeAuthor(channel) {
		this.#find("channel", channel).forEach((row) => {
			row.remove();
		});
	}
	replace(id, row) {
		for (const old of this.#find("id", id)) if (row === void 0) old.remove();
		else old.replaceWith(row);
	}
	#find(key, value) {
		return [...this.#list.querySelectorAll(`[data-${key}="${CSS.escape(value)}"]`)];
	}
	#scroll() {
		this.#follows = true;
		this.#newest.hidden = true;
		this.#list.scrollTop = this.#list.scrollHeight;
	}
};
/** Within a row of the end is at the end. */
var NEAR_PX = 48;
var MAX_ROWS = 200;
// page/rows.ts
/** The row that an event adds to the chat; nothing for what changes another part of the page. */
function row(event) {
	const item = element("li", "row");
	if (event.id !== void 0) item.dataset.id = event.id;
	if ("author" in event && event.author?.channel_id !== void 0) item.dataset.channel = event.author.channel_id;
	switch (event.kind) {
		case "message":
			item.append(author(event.author), text(event));
			return item;
		case "paid": return paid(item, event, event.color, text(event));
		case "sticker": return paid(item, event, event.color, picture(event.image, event.alt));
		case "membership":
			item.className = "card joined";
			item.append(author(event.author), event.header ?? "", ...paragraph(event));
			return item;
		case "gift":
		case "gift_received":
			item.className = "card gift";
			item.append(author(event.author), text(event));
			return item;
		case "mode": return notice(item, event);
		case "status": return event.about === "stream" || isEmpty(event) ? void 0 : notice(item, event);
		case "gap":
			item.className = "missing";
			item.textContent = event.missed === void 0 ? "Some messages are missing here." : `${event.missed} messages are missing here.`;
			return item;
		default: return;
	}
}
/** What is pinned above the chat. */
function pinned(banner) {
	const parts = [];
	if (banner.header !== void 0) parts.push(element("p", "header", banner.header));
	const item = banner.item === void 0 ? void 0 : row(banner.item);
	const words = element("p", "words");
	words.append(...item === void 0 ? [text(banner)] : [...item.childNodes]);
	return [...parts, words];
}
/** A vote and how it stands. */
function vote(poll) {
	const question = poll.question ?? "A vote";
	const votes = poll.votes === void 0 ? "" : ` · ${poll.votes.toLocaleString()} votes`;
	const choices = (poll.choices ?? []).map((choice) => {
		const line = element("div", "choice");
		line.append(element("span", "words", choice.text));
		if (choice.share !== void 0) {
			const percent = `${Math.round(choice.share * 100)} %`;
			const meter = element("meter", "share");
			meter.value = choice.share;
			meter.ariaLabel = `${choice.text}: ${percent}`;
			line.append(element("span", "percent", percent), meter);
		}
		return line;
	});
	return [element("p", "header", question + votes), ...choices];
}
function paid(item, event, color, content) {
	item.className = "card paid";
	if (color !== void 0 && /^#[0-9a-f]{6}$/.test(color)) {
		item.style.setProperty("--paid", color);
		item.style.setProperty("--paid-text", isLight(color) ? "#000000" : "#ffffff");
	}
	const said = element("p", "said");
	said.append(content);
	item.append(author(event.author), element("span", "amount", event.amount.text));
	if (said.textContent !== "" || said.childElementCount > 1) item.append(said);
	return item;
}
function notice(item, words) {
	item.className = "notice";
	item.append(text(words));
	return item;
}
function author(who) {
	const span = element("span", "author", who.name ?? "Somebody");
	const badges = who.badges ?? [];
	span.dataset.badge = RANKS.find((rank) => badges.some((badge) => badge.badge === rank)) ?? "none";
	span.append(...badges.map((badge) => element("span", "badge", badge.label ?? badge.badge)));
	return span;
}
/** Names and words of any language, in its own direction. */
function text(words) {
	const span = element("span", "words");
	span.dir = "auto";
	if (words.runs === void 0) span.textContent = words.text ?? "";
	else span.append(...words.runs.map(part$1));
	return span;
}
function part$1(run) {
	if (run.run === "emoji") {
		const name = run.alt ?? run.shortcut ?? run.id ?? "";
		return run.custom === true ? picture(run.url, name) : document.createTextNode(run.id ?? name);
	}
	if (run.link !== void 0 && /^https?:/.test(run.link)) {
		const link = element("a", "link", run.text);
		link.href = run.link;
		link.rel = "noopener noreferrer";
		link.target = "_blank";
		return link;
	}
	return run.bold === true ? element("b", "bold", run.text) : document.createTextNode(run.text);
}
/** A picture, or what it shows where there is none. */
function picture(url, alt) {
	if (url === void 0 || !url.startsWith("https:")) return document.createTextNode(alt ?? "");
	const image = element("img", "emoji");
	image.src = url;
	image.alt = alt ?? "";
	image.referrerPolicy = "no-referrer";
	return image;
}
function paragraph(words) {
	if (isEmpty(words)) return [];
	const paragraph = element("p", "said");
	paragraph.append(text(words));
	return [paragraph];
}
function isEmpty(words) {
	return (words.text ?? "") === "" && (words.runs ?? []).length === 0;
}
/** Whether black letters are read better on it than white ones (WCAG's relative luminance). */
function isLight(color) {
	const [red = 0, green = 0, blue = 0] = [
		1,
		3,
		5
	].map((at) => {
		const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
		return share <= .04045 ? share / 12.92 : ((share + .055) / 1.055) ** 2.4;
	});
	return .2126 * red + .7152 * green + .0722 * blue > .179;
}
function element(name, kind, words = "") {
	const made = document.createElement(name);
	made.className = kind;
	made.textContent = words;
	return made;
}
var RANKS = [
	"owner",
	"moderator",
	"member",
	"verified"
];
// page/words.ts
/** A client's state, for people. */
function inWords(state) {
	switch (state.name) {
		case "connecting": return "Connecting…";
		case "open":
			if (state.limitedUntil === void 0) return "Live";
			return `YouTube wants fewer calls: the chat goes on at ${clock(state.limitedUntil)}.`;
		case "waiting": return `${sentence(state.reason.message)} Trying again at ${clock(state.until)}.`;
		case "ended": return sentence(state.reason.message);
	}
}
function sentence(message) {
	const said = message.charAt(0).toUpperCase() + message.slice(1);
	return /[.!?]$/.test(said) ? said : `${said}.`;
}
function clock(time) {
	return time.toLocaleTimeString([], {
		hour: "2-digit",
		minute: "2-digit",
		second: "2-digit"
	});
}
// page/page.ts
/** A small page that shows one live chat. `?video=` says which. */
var video = new URLSearchParams(location.search).get("video");
if (video === null) say("ended", "Which chat? Write ?video= and a video id behind this address.");
else show(new ChatClient(`/v1/chat/${encodeURIComponent(video)}/events`));
function show(chat) {
	const log = new Log(part("log"), part("newest"));
	chat.on("event", (event) => {
		const item = row(event);
		if (item !== void 0) log.add(item);
	});
	chat.on("removed", (removed) => log.remove(removed.target_id));
	chat.on("author_removed", (author) => log.removeAuthor(author.channel_id));
	chat.on("replaced", (replaced) => log.replace(replaced.target_id, row(replaced.item)));
	chat.on("banner", (banner) => fill("pinned", banner.change === "removed" ? [] : pinned(banner)));
	chat.on("poll", (poll) => {
		if (poll.change === "closed") fill("vote", []);
		else fill("vote", vote(poll));
	});
	chat.on("viewer_count", (count) => {
		part("viewers").textContent = `${count.viewers.toLocaleString()} watching`;
	});
	chat.on("status", (status) => entitle(status));
	chat.on("state", (state) => {
		say(state.name === "open" && state.limitedUntil !== void 0 ? "limited" : state.name, inWords(state));
	});
}
function entitle(status) {
	const title = status.stream?.title;
	if (title === void 0) return;
	part("title").textContent = title;
	document.title = `${title} – live chat`;
}
/** An empty part is not there, for those who see it and those who hear it. */
function fill(id, content) {
	part(id).replaceChildren(...content);
	part(id).hidden = content.length === 0;
}
function say(state, words) {
	const element = part("state");
	element.dataset.state = state;
	element.textContent = words;
}
function part(id) {
	const element = document.getElementById(id);
	if (element === null) throw new Error(`the page has no #${id}`);
	return element;
}

// A Node client that reaches a service through a base URL, as any SDK does: only the base URL is changed.
//
//     node client.mjs http://127.0.0.1:8090/NAME [--through-gate]
//
// NAME is an upstream of the gate whose service is the stand-in with its menu; the stand-in's own address does too.
// Prints one JSON object with what it got, and ends with 1 if anything was off. Needs Node 20 and no package.

import { strict as assert } from "node:assert";
import { createHash, randomBytes } from "node:crypto";
import { request } from "node:http";

const MIB = 1024 * 1024;
// Generous: a paced gate may let the calls wait for each other.
const TIMEOUT_MS = 30_000;

/** The shape of an OpenAI-style SDK: a base URL, a key, and resources below it. */
class Chat {
  constructor(baseUrl, apiKey) {
    this.baseUrl = baseUrl.replace(/\/$/, "");
    this.headers = { authorization: `Bearer ${apiKey}` };
  }

  call(method, path, { headers = {}, ...options } = {}) {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const init = { method, redirect: "manual", signal, ...options, headers: { ...this.headers, ...headers } };
    return fetch(this.baseUrl + path, init);
  }

  complete(text) {
    const body = JSON.stringify({ model: "any", messages: [{ role: "user", content: text }] });
    return this.call("POST", "/v1/chat/completions", { body, headers: { "content-type": "application/json" } });
  }
}

/** What an application sees of an answer. */
function told(answer) {
  const ours = [...answer.headers].filter(([name]) => name.startsWith("tidegate-"));
  return { status: answer.status, retry_after: answer.headers.get("retry-after"), tidegate: Object.fromEntries(ours) };
}

/** The gate's own request headers; a service that is called directly gets none. */
const own = (headers) => (throughGate ? headers : {});

async function sdkCall(chat) {
  const answer = await chat.complete("hello");
  const seen = await answer.json();
  const headers = Object.fromEntries(seen.headers);
  assert.equal(answer.status, 200);
  assert.deepEqual([seen.method, seen.path], ["POST", "/v1/chat/completions"]);
  assert.equal(headers.authorization, "Bearer sk-test");
  assert.equal(JSON.parse(seen.body).messages[0].content, "hello");
  assert.ok(!Object.keys(headers).some((name) => name.startsWith("tidegate-")));
  return told(answer);
}

/** The gate's own request headers steer the gate, and the service never sees them. */
async function ownHeaders(chat) {
  const ours = { "tidegate-key": "node", "tidegate-priority": "interactive", "tidegate-max-wait-ms": "20000" };
  const answer = await chat.call("GET", "/echo?q=a%20b", { headers: own(ours) });
  const seen = await answer.json();
  assert.equal(answer.status, 200);
  assert.equal(seen.query, "q=a%20b");
  assert.ok(!seen.headers.some(([name]) => name.startsWith("tidegate-")));
  return told(answer);
}

async function gzip(chat) {
  const answer = await chat.call("GET", "/gzip");
  assert.equal(answer.headers.get("content-encoding"), "gzip");
  assert.deepEqual(await answer.json(), { compressed: true });
  return told(answer);
}

async function cookies(chat) {
  const answer = await chat.call("GET", "/cookies");
  await answer.arrayBuffer();
  assert.deepEqual(answer.headers.getSetCookie(), ["a=1; Path=/", "b=2; Path=/"]);
  return told(answer);
}

/** A redirect is the client's to follow, never the gate's. */
async function redirect(chat) {
  const answer = await chat.call("GET", "/sorry");
  await answer.arrayBuffer();
  assert.ok((throughGate ? [302, 429] : [302]).includes(answer.status), `status ${answer.status}`);
  return told(answer);
}

async function sse(chat) {
  const answer = await chat.call("GET", "/sse");
  assert.equal(answer.headers.get("content-type"), "text/event-stream");
  const events = (await answer.text()).split("\n").filter((line) => line.startsWith("data: "));
  assert.deepEqual(events.map((line) => JSON.parse(line.slice(6)).n), [0, 1, 2, 3, 4]);
  return told(answer);
}

/** Events come as they are sent, and a client may leave whenever it likes. */
async function endlessSse(chat) {
  const answer = await chat.call("GET", "/sse/endless");
  let text = "";
  for await (const chunk of answer.body) {
    text += Buffer.from(chunk).toString();
    if (text.includes("\n\n")) break;
  }
  assert.ok(text.startsWith('id: 0\ndata: {"n":0}\n\n'), text);
  return told(answer);
}

async function upload(chat) {
  const body = randomBytes(MIB);
  const headers = { "content-type": "application/octet-stream" };
  const answer = await chat.call("POST", "/mirror", { body, headers });
  assert.ok(body.equals(Buffer.from(await answer.arrayBuffer())), "other bytes came back");
  return told(answer);
}

/** The second half is sent only when the first has come back: nobody on the way may wait for the whole. */
async function duplexUpload(chat) {
  let goOn;
  const echoed = new Promise((resolve) => (goOn = resolve));
  async function* pieces() {
    yield Buffer.from("first");
    await echoed;
    yield Buffer.from("second");
  }
  const answer = await chat.call("POST", "/mirror", { body: pieces(), duplex: "half" });
  let text = "";
  for await (const chunk of answer.body) {
    text += Buffer.from(chunk).toString();
    if (text === "first") goOn();
  }
  assert.equal(text, "firstsecond");
  return told(answer);
}

async function download(chat) {
  const answer = await chat.call("GET", "/bytes/1mib");
  const body = Buffer.from(await answer.arrayBuffer());
  assert.equal(body.length, MIB);
  assert.ok(body.every((byte, place) => byte === place % 251), "other bytes came");
  return told(answer);
}

/** One text frame there and back, masked on the way out as RFC 6455 wants it. */
async function webSocket(chat) {
  const key = randomBytes(16).toString("base64");
  const headers = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-key": key, "sec-websocket-version": 13 };
  const asked = request(`${chat.baseUrl}/ws`, { headers, timeout: TIMEOUT_MS });
  const upgraded = new Promise((resolve, reject) => {
    asked.on("upgrade", (answer, socket, head) => resolve({ answer, socket, head }));
    asked.on("response", (answer) => reject(new Error(`no upgrade but ${answer.statusCode}`)));
    asked.on("error", reject).on("timeout", () => asked.destroy(new Error("timeout")));
  });
  asked.end();
  const { answer, socket, head } = await upgraded;
  const proof = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  assert.equal(answer.headers["sec-websocket-accept"], proof);
  const text = Buffer.from("through the gate");
  const mask = randomBytes(4);
  const masked = text.map((byte, place) => byte ^ mask[place % 4]);
  socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | text.length]), mask, masked]));
  const wanted = Buffer.concat([Buffer.from([0x81, text.length]), text]);
  let got = head;
  for await (const chunk of socket) {
    got = Buffer.concat([got, chunk]);
    if (got.length >= wanted.length) break;
  }
  assert.ok(got.equals(wanted), got.toString("hex"));
  return told({ status: answer.statusCode, headers: new Headers(answer.headers) });
}

/** Comes last: behind a gate it closes the service for everybody. */
async function throttled(chat) {
  const answer = await chat.call("GET", "/throttled", { headers: own({ "tidegate-max-attempts": "1" }) });
  await answer.arrayBuffer();
  assert.equal(answer.status, 429);
  assert.equal(Number(answer.headers.get("retry-after")), 30);
  return told(answer);
}

/** A gate answers this one by itself, at once, because the deadline comes before the cooldown's end. */
async function throttledAgain(chat) {
  if (!throughGate) return null;
  const answer = await chat.call("GET", "/echo", { headers: { "tidegate-max-wait-ms": "100" } });
  await answer.arrayBuffer();
  assert.equal(answer.status, 429);
  assert.equal(answer.headers.get("tidegate-synthetic"), "1");
  const left = Number(answer.headers.get("retry-after"));
  assert.ok(left >= 1 && left <= 30, `retry-after ${left}`);
  assert.match(answer.headers.get("content-type"), /^application\/problem\+json/);
  return told(answer);
}

async function run(check, chat) {
  try {
    const seen = await check(chat);
    if (throughGate) assert.ok("tidegate-wait-ms" in seen.tidegate, JSON.stringify(seen));
    return { ok: true, seen };
  } catch (error) {
    return { ok: false, error: String(error), cause: error.cause && String(error.cause) };
  }
}

const [baseUrl, ...flags] = process.argv.slice(2);
const throughGate = flags.includes("--through-gate");
if (!baseUrl || flags.some((flag) => flag !== "--through-gate")) {
  console.error("usage: node client.mjs BASE_URL [--through-gate]");
  process.exit(2);
}

// The redirect is a throttle in disguise to some gates, so it comes with the throttles at the end.
const plain = [sdkCall, ownHeaders, gzip, cookies, sse, endlessSse, upload, duplexUpload, download, webSocket];
const results = {};
for (const check of [...plain, redirect, throttled, throttledAgain]) {
  results[check.name] = await run(check, new Chat(baseUrl, "sk-test"));
}
console.log(JSON.stringify(results, null, 2));
process.exit(Object.values(results).every((result) => result.ok) ? 0 : 1);

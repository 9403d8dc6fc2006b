import { LONGEST_WAIT_MS, retryAfter } from './retry_after.ts';
import type { Reason } from './state.ts';

/** What became of one connection, or of the try to make one. */
export type Outcome =
  /** Nothing will change by asking again. */
  | { name: 'over'; reason: Reason }
  /** Too many calls: come back when told, and not before. */
  | { name: 'limited'; reason: Reason; retryAfterMs: number | undefined }
  /** May be better next time. */
  | { name: 'failed'; reason: Reason; retryAfterMs: number | undefined };

/** What an answer that is no stream of events means. Takes its body. */
export async function refusal(response: Response, wallMs: number): Promise<Outcome> {
  const problem = await readProblem(response);
  const { status } = response;
  const reason: Reason = {
    code: typeof problem.code === 'string' ? problem.code : `http_${status}`,
    message: typeof problem.detail === 'string' ? problem.detail : `the server answered ${status}`,
    status,
  };
  if (response.ok) {
    const type = response.headers.get('content-type') ?? 'nothing';
    return { name: 'over', reason: { code: 'not_a_stream', message: `the address gives ${type}, no events`, status } };
  }
  const waits = [retryAfter(response.headers, wallMs), milliseconds(problem.retry_after_ms)];
  const told = waits.filter((wait) => wait !== undefined);
  const retryAfterMs = told.length > 0 ? Math.max(...told) : undefined;
  if (status === 429) return { name: 'limited', reason, retryAfterMs };
  return heals(status) ? { name: 'failed', reason, retryAfterMs } : { name: 'over', reason };
}

/** A wait that a body tells. Pages of other origins see it there alone: `Retry-After` is hidden from them. */
export function milliseconds(told: unknown): number | undefined {
  const isWait = typeof told === 'number' && Number.isFinite(told) && told >= 0;
  return isWait ? Math.min(told, LONGEST_WAIT_MS) : undefined;
}

/** The server's troubles and a request that came too slowly or too early; what is wrong with the request stays so. */
function heals(status: number): boolean {
  return status >= 500 || status === 408 || status === 425;
}

type Problem = { code?: unknown; detail?: unknown; retry_after_ms?: unknown };

async function readProblem(response: Response): Promise<Problem> {
  const type = response.headers.get('content-type') ?? '';
  if (!/^application\/(problem\+)?json\b/.test(type)) {
    await response.body?.cancel();
    return {};
  }
  const body: unknown = await response.json().catch(() => ({}));
  return typeof body === 'object' && body !== null ? body : {};
}

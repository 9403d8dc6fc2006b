import type { IncomingMessage, ServerResponse } from 'node:http';
import { clip } from './clip.ts';
import type { Stage } from './stage.ts';
import type { Viewer } from './viewer.ts';

/** The LL-HLS end of a relay as its contract says (E17), with the demo's clip: what it is asked, and what it refuses. */
export class HlsRelay {
  /** Tokens that a session was opened with, and then those that it was renewed with. */
  readonly opened: string[] = [];
  readonly renewed: string[] = [];
  /** What it says to who asks; nothing where they may come in. */
  refuse: (token: string) => { status: number; code: string; retry_after_ms?: number } | undefined = () => undefined;
  readonly #clip = clip();
  #url = '';

  async serve(stage: Stage): Promise<this> {
    this.#url = await stage.web((request, response) => this.#answer(request, response));
    return this;
  }

  /** Makes a page believe that every relay serves LL-HLS here, and that MoQ is at `moq` instead. */
  standIn(viewer: Viewer, moq?: string): Promise<unknown> {
    return viewer.page.addInitScript(
      ([hls, moq]) => {
        const read = Response.prototype.text;
        Response.prototype.text = async function () {
          const text = (await read.call(this)).replace(/"hls_url":"[^"]*"/g, `"hls_url":"${hls}/hls"`);
          return moq === undefined ? text : text.replace(/"url":"[^"]*"/g, `"url":"${moq}"`);
        };
      },
      [this.#url, moq] as const,
    );
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const url = new URL(request.url ?? '', 'http://relay');
    const name = url.pathname.split('/').at(-1) ?? '';
    response.setHeader('access-control-allow-origin', request.headers.origin ?? '*');
    response.setHeader('access-control-allow-credentials', 'true');
    if (request.method === 'POST' && url.pathname === '/hls/demo/1/token') {
      this.renewed.push((await request.toArray()).join(''));
      return response.writeHead(204).end();
    }
    if (url.pathname === '/hls/demo/index.m3u8') return this.#open(url, response);
    if (name === 'media.m3u8') return response.end(this.#playlist());
    const piece = name === 'head.mp4' ? this.#clip.head : this.#clip.seconds[Number.parseInt(name, 10)];
    return piece === undefined ? response.writeHead(404).end() : response.end(piece);
  }

  #open(url: URL, response: ServerResponse): unknown {
    const token = url.searchParams.get('jwt') ?? '';
    this.opened.push(token);
    const refusal = this.refuse(token);
    if (refusal !== undefined) {
      return response
        .writeHead(refusal.status, { 'content-type': 'application/problem+json' })
        .end(JSON.stringify(refusal));
    }
    const codecs = 'CODECS="avc1.42c01e,mp4a.40.2"';
    return response.end(`#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=800000,${codecs}\n1/media.m3u8\n`);
  }

  #playlist(): string {
    const pieces = this.#clip.seconds.map((_, second) => `#EXTINF:1,\n${second}.m4s\n`);
    return `#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:1\n#EXT-X-MAP:URI="head.mp4"\n${pieces.join('')}#EXT-X-ENDLIST\n`;
  }
}

import { seedRandom } from '../../test/simulator/random.ts';
import { CONTENT_TYPES, frame, respond, streamOf } from '../../test/simulator/recorded.ts';
import type { Play } from './plays.ts';

/** Serves every play as its provider would. The model of a request selects the play. */
export interface Upstream {
  readonly origin: string;
  stop(): Promise<void>;
}

/** Starts on a free port of 127.0.0.1. */
export function startUpstream(find: (id: string) => Play | undefined): Upstream {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = (await request.json()) as { readonly model?: string };
      const { pathname } = new URL(request.url);
      const named = /\/models?\/([^/:]+)/u.exec(decodeURIComponent(pathname))?.[1];
      const play = find(named ?? body.model ?? '');
      return play === undefined ? new Response('no such recording', { status: 404 }) : answer(play);
    },
  });
  return { origin: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

function answer({ recording, isCut }: Play): Response {
  const { framing, body, events, isStream, expected } = recording;
  // An error that was recorded as a whole response had a status.
  const status = expected.type === 'failure' && !isStream ? expected.status : 200;
  if (!isCut) return respond({ status, body, events }, framing, isStream);
  return new Response(streamOf(cut(Buffer.concat(frame(framing, events)))), { headers: { 'content-type': CONTENT_TYPES[framing] } });
}

const PIECE_BYTES_MAX = 200;

function cut(bytes: Uint8Array): Uint8Array[] {
  const random = seedRandom(bytes.length);
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = start + 1 + random.below(PIECE_BYTES_MAX);
    pieces.push(bytes.subarray(start, end));
    start = end;
  }
  return pieces;
}

import fc from 'fast-check';
import { anyCharacter } from '../../support/any-character.js';

const body = JSON.stringify({ message: { id: 'u1', role: 'user', content: 'hi' } });
const SEEDS = [
  'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET /api/chat/raw-1/snapshot HTTP/1.1\r\nhost: a\r\ncookie: helix-snapshot=1\r\n\r\n',
  `POST /api/chat/raw-1/stop HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${String(body.length)}\r\n\r\n${body}`,
  'POST /api/agent/start HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ncontent-type: application/json\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  'OPTIONS /api/chat/raw-1 HTTP/1.1\r\nhost: a\r\norigin: https://a.test\r\naccess-control-request-method: POST\r\n\r\n',
  'GET /api/agent/sse?sessionId=raw-1 HTTP/1.1\r\nhost: a\r\nlast-event-id: 3\r\n\r\n',
];

const INSERTS = [
  '\r\n',
  '\n',
  '\r',
  '\u0000',
  ' ',
  ':',
  '%',
  '%0d%0ax-evil: 1',
  '\r\nx-evil: 1\r\n',
  '/../',
  '?',
  '#',
  'Expect: 100-continue\r\n',
  'Expect: x\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  'content-length: 5\r\n',
  'transfer-encoding: gzip\r\n',
  'content-encoding: gzip\r\n',
  'host: b\r\n',
  'range: bytes=0-1\r\n',
  'authorization: Bearer \r\n',
  'x'.repeat(20_000),
  '\u00ff\u00fe',
  '{',
  '"',
  ']',
];

/** Valid requests as bytes, with some bytes inserted, removed or changed. */
export const almostRequests = fc
  .record({
    request: fc.constantFrom(...SEEDS),
    changes: fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        cut: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 20 })),
        put: fc.oneof(fc.constantFrom(...INSERTS), fc.string({ unit: anyCharacter, maxLength: 6 })),
      }),
      { maxLength: 3 },
    ),
  })
  .map(({ request, changes }) =>
    Buffer.from(
      changes.reduce((text, { at, cut, put }) => {
        const place = Math.floor(at * text.length);
        return text.slice(0, place) + put + text.slice(place + cut);
      }, request),
      'latin1',
    ),
  );

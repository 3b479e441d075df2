// Defences of the API: how large, deep and many requests and streams may be, and how they end.
const JSON_BODIES = 'test/api/json-bodies.test.ts';
const BODIES = 'test/api/bodies.test.ts';
const LIMITS = 'test/api/limits.test.ts';
const PIPE = 'test/api/pipe-to-express.test.ts';

/** The text is taken out of the file. */
const without = (text) => [[text, '']];

export const bounds = [
  {
    defence: 'Edge: a body that says that it is too large is not waited for',
    file: 'api/middleware/json-body.ts',
    edits: without(
      "if (Number(request.headers['content-length'] ?? 0) > LIMITS.bodyBytes) throw bodyTooLarge();",
    ),
    suite: BODIES,
    test: 'a body that is too large a body is refused by its declared length before any of it arrives',
  },
  {
    defence: 'Edge: nor is one that turns out to be, also when it is unpacked',
    file: 'api/middleware/read-body.ts',
    edits: without('if (received > limit) throw bodyTooLarge();'),
    suite: BODIES,
    test: 'a body that is too large a body without a declared length is refused as soon as it is too large',
  },
  {
    defence: 'Edge: JSON is not deeper than recursion goes',
    file: 'api/middleware/json-size.ts',
    edits: [['if (depth > bounds.depth) return', 'if (false) return']],
    suite: JSON_BODIES,
    test: 'JSON JSON that is nested 10000 deep is refused',
  },
  {
    defence: 'Edge: JSON has no more values than are worked through in no time',
    file: 'api/middleware/json-size.ts',
    edits: without("if (values > bounds.values) return 'values';"),
    suite: JSON_BODIES,
    test: 'JSON JSON with too many values is refused long before its end',
  },
  {
    defence: 'Edge: what stands in a string is no value',
    file: 'api/middleware/json-size.ts',
    edits: [['if (byte === BACKSLASH) at += 1;', '']],
    suite: JSON_BODIES,
    test: 'JSON JSON in pieces of 7 bytes has the depth and values of the whole',
  },
  {
    defence: 'Edge: another encoding does not hide how deep it is',
    file: 'api/middleware/json-body.ts',
    edits: [["if (charset.toLowerCase() !== 'utf-8') {", 'if (false) {']],
    suite: JSON_BODIES,
    test: 'JSON JSON of another encoding is refused, since the depth check would not see its brackets',
  },
  {
    defence: 'Edge: of a conversation that is posted whole only the end is looked at',
    file: 'protocol/posted-messages.ts',
    edits: [
      [
        'toStart: (messages) => Math.max(0, messages.findLastIndex(isNotUsers)),',
        'toStart: () => 0,',
      ],
    ],
    suite: BODIES,
    test: 'a body that is accepted a conversation is checked from its last reply on',
  },
  {
    defence: 'Edge: a list of faults is not collected to its end',
    file: 'protocol/list-of.ts',
    edits: without('if (context.issues.length >= FAULTS) break;'),
    suite: 'test/protocol/list-of.test.ts',
    test: 'a list a list is checked until there are five faults',
  },
  {
    defence: 'Edge: requests that change something are limited',
    file: 'api/middleware/limits.ts',
    edits: [['perMinute > 0', 'false']],
    suite: LIMITS,
    test: 'requests that may change something the requests of a sender above the limit are refused, those of others are not',
  },
  {
    defence: 'Edge: a count that cannot be kept takes nothing down',
    file: 'api/middleware/limits.ts',
    edits: [['passOnStoreError: true,', 'passOnStoreError: false,']],
    suite: LIMITS,
    test: 'requests that may change something requests pass while they cannot be counted, and the log says so',
  },
  {
    defence: 'Edge: open streams are limited',
    file: 'api/middleware/limits.ts',
    edits: [['if (count >= limit) {', 'if (false) {']],
    suite: LIMITS,
    test: 'open streams a stream above the limit is refused before a run begins, and a reader that leaves frees its slot',
  },
  {
    defence: 'Edge: a stream gives its place back',
    file: 'api/middleware/limits.ts',
    edits: without('if (left === 0) open.delete(key);\n      else open.set(key, left);'),
    suite: LIMITS,
    test: 'open streams a stream frees its slot however it ends',
  },
  {
    defence: 'Edge: half a reply does not look whole',
    file: 'api/pipe-to-express.ts',
    edits: [['if (!response.writableEnded) response.destroy();', 'response.end();']],
    suite: PIPE,
    test: 'pipeToExpress the socket is cut when the frames break off, so half a reply does not look complete',
  },
  {
    defence: 'Edge: nothing is followed for who has left',
    file: 'api/pipe-to-express.ts',
    edits: without("response.once('close', leave);"),
    suite: PIPE,
    test: 'pipeToExpress following stops as soon as the reader disconnects',
  },
  {
    defence: 'Revocation: the reader of an open stream is cut',
    file: 'api/pipe-to-express.ts',
    edits: without("revoked?.addEventListener('abort', cut);"),
    suite: 'test/api/revocation.test.ts',
    test: 'a revoked identity the reply to a message is cut when its reader is revoked, and its run continues',
  },
  {
    defence: 'Limits: one sender does not fill the memory with bodies',
    file: 'api/middleware/limits.ts',
    edits: [['(taken.get(key) ?? 0) + bytes > limit', 'false']],
    suite: LIMITS,
    test: 'bodies in flight the bytes in flight of one sender are bounded until they are read, those of others are not',
  },
  {
    defence: 'Limits: what was read, or given up, counts no more',
    file: 'api/middleware/json-body.ts',
    edits: without('share.release();'),
    suite: LIMITS,
    test: 'bodies in flight a sender that disconnects frees its bytes in flight',
  },
];

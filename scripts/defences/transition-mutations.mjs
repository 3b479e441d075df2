// Defences of the transitions of runs, steps and the stream.
const TRANSITIONS = 'stores/transitions';

export const transitions = [
  {
    defence: 'Beginning: the state that was given is stored with it',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [["if (state !== '') putState(session, state);\n", '']],
    test: 'begin a state is replaced only if the run begins',
  },
  {
    defence: 'Fence: append of a lower token is refused',
    file: `${TRANSITIONS}/append.ts`,
    edits: [['  if (owner[0] !== token) return [FENCED];\n', '']],
    test: "claim a lower token is refused, and so is its writer's next write",
  },
  {
    defence: 'Fence: claim of a lower token is refused',
    file: `${TRANSITIONS}/claim.ts`,
    edits: [["  if (owner.token > token) return only('fenced');\n", '']],
    test: "claim a lower token is refused, and so is its writer's next write",
  },
  {
    defence: 'Fence: commit of a lower token is refused',
    file: `${TRANSITIONS}/commit.ts`,
    edits: [['num(owner) !== token || ', '']],
    test: 'commit a commit of a fenced attempt is refused',
  },
  {
    defence: 'Batch numbers: a batch seen before is not stored again',
    file: `${TRANSITIONS}/append.ts`,
    edits: [['&& last >= next', '&& false']],
    test: 'append a batch that was stored before gets its first reply and writes nothing',
  },
  {
    defence: 'Batch numbers: none may be missing',
    file: `${TRANSITIONS}/append.ts`,
    edits: [['  if (last !== next - 1) return [REWOUND];\n', '']],
    test: 'append a writer that has seen more than the store holds gets rewound, and nothing is written',
  },
  {
    defence: 'Writer tag: only the writer’s own entries are withdrawn',
    file: `${TRANSITIONS}/lib/attempts.ts`,
    edits: [['if (writerOf(entry) === writer) {', 'if (true) {']],
    test: 'claim a higher token keeps what another writer wrote in between',
  },
  {
    defence: 'Writer tag: entries before the claim stay',
    file: `${TRANSITIONS}/lib/attempts.ts`,
    edits: [['`(${first}-0`', "'-'"]],
    test: 'claim a higher token keeps what the same step of an earlier turn wrote',
  },
  {
    defence: 'Explicit ids: Redis does not choose them',
    file: `${TRANSITIONS}/lib/log.ts`,
    edits: [['stream, id, writer', "stream, '*', writer"]],
    suite: 'test/stores/conformance/redis.test.ts',
    test: 'append entries are numbered from 1 without gaps, and the reply has the last number',
  },
  {
    defence: 'Known sequence: append is refused over a gap',
    file: `${TRANSITIONS}/append.ts`,
    edits: [['  if (at < toNumber(known)) return [REWOUND];\n', '']],
    test: 'append a writer that has seen more than the store holds gets rewound, and nothing is written',
  },
  {
    defence: 'Claim: few but large rows are left to the caller',
    file: `${TRANSITIONS}/claim.ts`,
    edits: [['      if (bytes > MOST_BYTES) return undefined;\n', '']],
    test: 'read along a claim leaves large rows to the caller, however few they are',
  },
  {
    defence: 'Known sequence: claim on an older store is refused',
    file: `${TRANSITIONS}/claim.ts`,
    edits: [["  if (num(seq) < known) return only('rewound');\n", '']],
    test: 'order of checks a claim checks a store that is behind before an unknown run',
  },
  {
    defence: 'Known run: a run that the store never heard of is no superseded one',
    file: `${TRANSITIONS}/claim.ts`,
    edits: [
      ["num(readField(session, 'runN')) < request.runN ? 'rewound' : 'superseded'", "'superseded'"],
    ],
    test: 'order of checks a claim checks a store that is behind before an unknown run',
  },
  {
    defence: 'Known sequence: commit on an older store is refused',
    file: `${TRANSITIONS}/commit.ts`,
    edits: [["  if (num(seq) < request.known) return only('rewound');\n", '']],
    test: 'commit a writer that has seen more than the store holds writes nothing',
  },
  {
    defence: 'One run per session',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [["    if (policy === 'reject' && !abandons) return only('busy');\n", '']],
    test: 'begin of many concurrent posts exactly one starts a run',
  },
  {
    defence: 'A message is accepted once',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [['if (known !== undefined) {', 'if (false) {']],
    test: 'begin a message is accepted once, while its run is active and after it has ended',
  },
  {
    defence: 'A message is accepted once, whatever hidden context comes before it',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [['if (!message.hidden) hidden = [];', '']],
    test: 'begin a hidden message before a visible accepted one counts as accepted',
  },
  {
    defence: 'Ends: an interrupted run keeps its error for viewers',
    file: `${TRANSITIONS}/lib/finish.ts`,
    edits: [["if (error !== '') setFields(session, ['error', error]);", '']],
    test: 'end an aborted run keeps the error that viewers get',
  },
  {
    defence: 'Generation: an erased session is not taken for the next one of its id',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [["'born', nonce", "'born', 'always'"]],
    test: 'claim a claim distinguishes a session from an erased one with the same id',
  },
  {
    defence: 'Fence: a writer that was taken over is refused',
    file: `${TRANSITIONS}/take-over.ts`,
    edits: [['num(owner) + 1', 'num(owner)']],
    test: 'take over the writer is fenced off, its entries stay, and another one commits in its place',
  },
  {
    defence: 'Usage of discarded attempts counts',
    file: `${TRANSITIONS}/discard.ts`,
    edits: [['  addUsage(session, usage);\n', '']],
    test: 'usage usage of steps and discarded attempts is added up, once each',
  },
  {
    defence: 'A result is written by the transition that ends the run',
    file: `${TRANSITIONS}/lib/finish.ts`,
    edits: [["if (result !== '') {", 'if (false) {']],
    test: 'output the output is written by the transition that ends the run, after the results of its siblings',
  },
];

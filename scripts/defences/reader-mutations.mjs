// Defences of what is read, kept and staged; see mutations.mjs.
const TRANSITIONS = 'stores/transitions';
const STORAGE = 'test/stores/conformance/redis-storage.test.ts';

export const readers = [
  {
    defence: 'Viewers of a turn: what arrives in one turn of the event loop is one write to each',
    file: 'ai-sdk/turns/live-turn.ts',
    edits: [
      ['    if (this.#isWaking) return;\n', '    this.#wake();\n    if (this.#isWaking) return;\n'],
    ],
    suite: 'test/ai-sdk/turns/live-turn.test.ts',
    test: 'viewers of an active turn what arrives in one turn of the event loop is one write to each viewer',
  },
  {
    defence: 'Replay: live readers get their turn between two pages',
    file: 'ai-sdk/turns/replay-range.ts',
    edits: [
      ['    if (pages.length > 0) await new Promise((resolve) => setImmediate(resolve));\n', ''],
    ],
    suite: 'test/ai-sdk/turns/replay-range.test.ts',
    test: 'replayRange replayRange lets others take their turn between two pages that came together',
  },
  {
    defence: 'A connection whose packets vanish is replaced: under a writer',
    file: 'stores/redis/clients.ts',
    edits: [['socketTimeout: SILENCE_MS, ', '']],
    test: 'a connection whose packets vanish a silent connection is replaced under a writer, which loses and repeats nothing',
    suite: 'test/stores/redis/silence.test.ts',
  },
  {
    defence: 'A connection whose packets vanish is replaced: in an idle process',
    file: 'stores/redis/connection.ts',
    edits: [['  startPulse(client);\n', '']],
    test: 'a connection whose packets vanish a silent connection is replaced under an idle API',
    suite: 'test/stores/redis/silence.test.ts',
  },
  {
    defence: 'A worker waits while Redis says that it cannot serve: also for reads',
    file: 'stores/redis/commands.ts',
    edits: [['send(() => readTogether(redis, add))', 'readTogether(redis, add)']],
    test: 'beside a script that does not end clients are refused, and workers wait',
    suite: 'test/stores/redis/busy.test.ts',
  },
  {
    defence: 'Pause as an entry: of a run',
    file: `${TRANSITIONS}/lib/pause.ts`,
    edits: [["  write(log, ownChunk(speaker, 'run_paused', body));\n", '']],
    test: "stream readers a session's reader ends at the pause and end of its run",
  },
  {
    defence: 'Pause as an entry: of a stream without a run',
    file: `${TRANSITIONS}/mark.ts`,
    edits: [['  writeControl(log, contentAt(args, message));\n', '']],
    test: 'stream readers a reader ends at a pause that is over before it looks, since the log has it',
  },
  {
    defence: 'Pauses up to a reader’s start have been overtaken',
    file: 'stores/log/stream-reader.ts',
    edits: [['    if (sequence <= this.#input.position.sequence) return false;\n', '']],
    test: 'stream readers a reader ends at a pause, and a new one starts after it',
  },
  {
    defence: 'Truncation as an entry: readers elsewhere see it',
    file: `${TRANSITIONS}/truncate.ts`,
    edits: [
      ['writeControl(log, `{"type":"stream_truncated",', 'void (`{"type":"stream_truncated",'],
    ],
    test: 'cleanupToStep attached readers are informed once, later ones are not',
  },
  {
    defence: 'Tail: what is published carries the sequence before it',
    suite: STORAGE,
    file: `${TRANSITIONS}/lib/log.ts`,
    edits: [['`[${formatInt(before)},[', '`[${formatInt(before + written.length)},[']],
    test: 'the log in Redis the log publishes everything that a transition wrote at once, with the sequence before it',
  },
  {
    defence: 'Tail: one publish per transition',
    suite: STORAGE,
    file: `${TRANSITIONS}/lib/log.ts`,
    edits: [
      [
        "  if (typeof added === 'string') log.written.push(`[${id},${writerJson},${json}]`);\n",
        "  if (typeof added === 'string') {\n    log.written = [`[${id},${writerJson},${json}]`];\n    closeLog(log as Log);\n    log.before = seq;\n    log.written = [];\n  }\n",
      ],
    ],
    test: 'the log in Redis the log publishes everything that a transition wrote at once, with the sequence before it',
  },
  {
    defence: 'Tail: a gap before what was published is read from the log',
    suite: 'test/stores/redis/tail.test.ts',
    file: 'stores/redis/tail/cursor.ts',
    edits: [['previous > known,', 'previous > Infinity,']],
    test: 'follow a follower repairs a lost publish when the next one arrives',
  },
  {
    defence: 'Expiry is armed by the end only',
    suite: 'test/stores/redis/expiry.test.ts',
    file: `${TRANSITIONS}/lib/start-run.ts`,
    edits: [
      ["import { persist } from './expiry.js';", "import { armExpiry } from './expiry.js';"],
      ['    persist(session);\n    // Those', '    armExpiry(session, true);\n    // Those'],
    ],
    test: 'the keys of a session the keys of a session do not expire while it starts, runs or waits; those of an ended one do so for the stream only',
  },
  {
    defence: 'The cap never trims the current turn',
    suite: STORAGE,
    file: `${TRANSITIONS}/lib/log.ts`,
    edits: [["stream, id, 'w'", "stream, 'MAXLEN', '10', id, 'w'"]],
    test: 'the log in Redis the log is trimmed by whole old turns beyond its cap, never in the current one',
  },
  {
    defence: 'The sequence survives the stream',
    suite: STORAGE,
    file: `${TRANSITIONS}/lib/start-run.ts`,
    edits: [["'seq', formatInt(newest)", "'seq', formatInt(redis.call('XLEN', session.stream))"]],
    test: 'the log in Redis the log continues its sequence when the stream of the turn before has expired',
  },
  {
    defence: 'State: saved over the loaded version only',
    file: `${TRANSITIONS}/save-state.ts`,
    edits: [["  if (version !== expectedVersion) return only('stale');\n", '']],
    test: 'load and save a state is saved only over the version that was loaded',
  },
  {
    defence: 'State: a version that a checkpoint names stays',
    file: `${TRANSITIONS}/lib/state.ts`,
    edits: [['if (version !== num(checkpointV)) dropStates', 'dropStates']],
    test: 'checkpoints a checkpoint is found by its id, with the state of that moment',
  },
  {
    defence: 'Staging: a change that was replaced meanwhile is not dropped',
    file: `${TRANSITIONS}/save-state.ts`,
    edits: [[' || !staged.startsWith(`${int(n)} `)', '']],
    test: 'staged changes under concurrency changes that are replaced while being promoted are not lost',
  },
  {
    defence: 'Staging: all or none',
    file: 'stores/record/apply-changes.ts',
    edits: [['if (failure !== undefined || ', 'if (']],
    test: 'staged changes staged changes are promoted all or none',
  },
  {
    defence: 'Sizes are checked before a sequence is given',
    file: 'stores/record/checked-messages.ts',
    edits: [['Buffer.byteLength(json) > LIMITS.chunkBytes', 'Buffer.byteLength(json) > Infinity']],
    test: 'bad input malformed chunks are refused without using up a sequence',
  },
  {
    defence: 'Schemas are checked before a sequence is given',
    file: 'stores/record/checked-messages.ts',
    edits: [
      ['if (!checked.success) {', 'if (checked.error !== undefined && messages.length > 9) {'],
    ],
    test: 'bad input one bad chunk refuses the whole batch, whose number stays free',
  },
  {
    defence: 'Short deltas: the writer is the name of the field',
    file: `${TRANSITIONS}/lib/entries.ts`,
    edits: [
      ['fields.length === 2 ? fields[0] : fields[1]', "fields[0] !== 'w' ? fields[0] : fields[1]"],
    ],
    test: 'deltas each is read and followed as it was written',
    suite: 'test/stores/conformance/memory.test.ts',
  },
  {
    defence: 'Joined deltas: only those of one block',
    file: 'stores/redis/tail/joined-deltas.ts',
    edits: [[' || !json.startsWith(before, end)', '']],
    suite: 'test/stores/redis/joined-deltas.test.ts',
    test: 'joined deltas are what the single ones say, joined by the rule of replays',
  },
  {
    defence: 'Joined deltas: the end of a thought ends its block',
    file: 'stores/redis/tail/joined-deltas.ts',
    edits: [['(?!,true)', '']],
    suite: 'test/stores/redis/joined-deltas.test.ts',
    test: 'joined deltas are what the single ones say, joined by the rule of replays',
  },
  {
    defence: 'Joined deltas: a time that is no whole number of milliseconds is left to the parser',
    file: 'stores/redis/tail/joined-deltas.ts',
    edits: [['([,\\]].*)', '([^\\d].*)']],
    suite: 'test/stores/redis/joined-deltas.test.ts',
    test: 'joined deltas whose times are no whole milliseconds are parsed one by one',
  },
  {
    defence: 'A replay parses the deltas of one block once',
    file: 'stores/redis/tail/joined-deltas.ts',
    edits: [
      [
        '    if (run !== undefined && text !== undefined) {',
        '    if (run !== undefined && text === null) {',
      ],
    ],
    suite: 'test/stores/redis/joined-deltas.test.ts',
    test: 'joined deltas of one block are one entry before anything is parsed',
  },
  {
    defence: 'A replay reads no further than it was asked to',
    file: 'stores/redis/tail/pages.ts',
    edits: [['`${String(upTo)}-0`', "'+'"]],
    suite: 'test/stores/conformance/memory.test.ts',
    test: 'deltas a replay reads adjacent ones as one, up to a sequence and no further',
  },
  {
    defence: 'Short deltas: what the protocol does not know is kept',
    file: 'stores/redis/short-deltas.ts',
    edits: [['  if (Object.keys(message).length !== SHARED + own.length) return undefined;\n', '']],
    test: 'deltas what the protocol does not know of a delta is kept',
  },
  {
    defence: 'Short deltas: only of the conversation and its sub-agents',
    file: 'stores/redis/short-deltas.ts',
    edits: [[' || !agentId.startsWith(before)', '']],
    test: 'deltas each is read and followed as it was written',
  },
  {
    defence: 'Short deltas: the output of a lost attempt is charged',
    file: `${TRANSITIONS}/lib/budget.ts`,
    edits: [['  if (isShort(json)) return byteLength(textOf(json));\n', '']],
    test: 'deltas of a lost attempt are withdrawn, and charged by their bytes',
  },
  {
    defence: 'Short deltas: a step ends before the next one’s',
    file: `${TRANSITIONS}/lib/entries.ts`,
    edits: [['return { agentId, step: delta[2] };', 'return { step: delta[2] };']],
    suite: 'test/stores/redis/short-deltas.test.ts',
    test: 'a delta in Redis a delta belongs to a step that ends where the next begins, in sessions without notes of it',
  },
];

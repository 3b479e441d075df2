import type { StreamChunk } from '../../../protocol/chunk.js';
import type { ErrorCode } from '../../../protocol/errors.js';
import { LIMITS } from '../../../protocol/limits.js';
import type { AssistantRow, Row, ToolRow, UserRow } from '../../../protocol/rows.js';
import { equal, includes, refuses } from '../assertions.js';
import {
  AGENT,
  assistantRow,
  client,
  newCall,
  newNonce,
  newSessionId,
  server,
  userMessage,
} from '../fixtures.js';
import { asStored, EXACT, HALF, nested, TOO_DEEP } from '../hostile.js';
import type { Case, Suite } from '../suite.js';
import type { NewCall } from '../../contract/call-record.js';
import type { UserMessage } from '../../contract/runs.js';

type Value = Record<string, unknown>;

/** Values that stores are known to lose, alter or fail on, nested as deeply as allowed. */
const HOSTILE: Value = {
  ...EXACT,
  deep: nested(LIMITS.jsonDepth - 2),
  [`half ${HALF}`]: `cut ${HALF}`,
  texts: ['","parts":', '"},{"', '\\ud83d', '\u0000', '\r\n', '\u2028', '🙂', '%2F', '::', '~1'],
};

/** A way in which a value enters a session. */
interface Way {
  /** Code with which a value is refused. Default `validation_error`. */
  code?: ErrorCode;
  /** Brings the session to the point where the value can enter. */
  prepare?: (setup: Case) => Promise<unknown>;
  give: (setup: Case, value: Value) => Promise<unknown>;
  /** Reads the stored value back. */
  read: (setup: Case) => Promise<unknown>;
}

const runOf = async ({ session }: Case): Promise<string> => (await session.record())?.runId ?? '';
const rowsOf = ({ session }: Case): Promise<Row[]> => session.rows();
const stateOf = async ({ store, session }: Case): Promise<unknown> =>
  (await store.documents.readState(session.id)).customState;
const begin = ({ session }: Case): Promise<unknown> => session.newRun();

const withMetadata = (id: string, metadata: Value): UserMessage => ({
  ...userMessage(id),
  row: { role: 'user', id, parts: [], metadata },
});
const metadataOf = async (setup: Case): Promise<unknown> =>
  ((await rowsOf(setup))[0] as UserRow).metadata;
const queuedMetadataOf = async ({ session }: Case): Promise<unknown> => {
  const row = (await session.queue())[0]?.messages[0]?.row;
  return row?.role === 'user' && row.metadata;
};
const toolRowOf = async (setup: Case): Promise<ToolRow | undefined> =>
  (await rowsOf(setup)).find((row) => row.role === 'tool');
const resultOf = async ({ session }: Case): Promise<unknown> => {
  const row = (await session.call('c'))?.row;
  return row?.role === 'tool' && row.output;
};

const base = ({ session }: Case) => ({
  agentId: session.id,
  agentType: AGENT,
  step: 1,
  timestamp: 1,
});

/** Prepares a run whose first step has opened this call. */
const asking =
  (kind: NewCall['kind']) =>
  async ({ session }: Case): Promise<unknown> =>
    session.ask((await session.newRun()).runId, 1, [newCall('c', kind)]);

async function working(setup: Case): Promise<void> {
  await asking('server')(setup);
  await setup.session.start(await runOf(setup), 1, 'c');
}

const claimed = async ({ session }: Case): Promise<unknown> =>
  session.claim(session.writer((await session.newRun()).runId, 1, 1));

async function commit(setup: Case, extra: object): Promise<unknown> {
  return setup.session.commit(setup.session.writer(await runOf(setup), 1, 1), extra);
}

async function settle(setup: Case, extra: object, output: unknown = 1): Promise<unknown> {
  return setup.store.calls.settle({
    source: 'tool',
    toolCallId: 'c',
    chunks: [],
    now: 1,
    writer: setup.session.callWriter(await runOf(setup), 1, 'c', 1),
    row: { role: 'tool', toolCallId: 'c', toolName: 'server-tool', output },
    ...extra,
  });
}

const WAYS: Readonly<Record<string, Way>> = {
  'the state that a run begins with': {
    give: ({ session }, state) => session.begin({ state }),
    read: stateOf,
  },
  'metadata of a message': {
    give: ({ session }, value) => session.begin({ messages: [withMetadata('u1', value)] }),
    read: metadataOf,
  },
  'metadata of a message that waits': {
    prepare: begin,
    give: ({ session }, value) =>
      session.begin({ messages: [withMetadata('u2', value)], policy: 'queue' }),
    read: queuedMetadataOf,
  },
  'an edit of a message that waits': {
    prepare: async ({ session }) => {
      await session.newRun();
      await session.enqueue('u2');
    },
    give: ({ store, session }, value) =>
      store.queue.edit({
        sessionId: session.id,
        expectedHash: userMessage('u2').hash,
        now: 1,
        message: { ...withMetadata('u2', value), hash: 'other' },
      }),
    read: queuedMetadataOf,
  },
  'metadata of an edited message': {
    prepare: async ({ session }) => session.ask((await session.newRun()).runId, 1, []),
    give: ({ session }, value) =>
      session.retry({ messageId: 'u1', messages: [withMetadata('u1b', value)] }),
    read: metadataOf,
  },
  'a state that is saved': {
    prepare: begin,
    give: ({ store, session }, customState) =>
      store.documents.save(session.id, { customState, version: 0 }),
    read: stateOf,
  },
  'staged changes': {
    prepare: begin,
    give: ({ store, session }, value) =>
      store.staging.stage(session.id, 's1', {
        toolCallId: 'c',
        patches: [{ op: 'replace', path: '', value }],
      }),
    read: stateOf,
  },
  'staged keys': {
    prepare: begin,
    give: ({ store, session }, mergeChanges) =>
      store.staging.stage(session.id, 's1', { toolCallId: 'c', patches: [], mergeChanges }),
    read: stateOf,
  },
  'changes that a call settles with': {
    prepare: working,
    give: (setup, value) => settle(setup, { changes: [{ op: 'replace', path: '', value }] }),
    read: stateOf,
  },
  'an event beside a result': {
    code: 'invalid_chunk',
    prepare: working,
    give: async (setup, data) => {
      const writer = setup.session.callWriter(await runOf(setup), 1, 'c', 1);
      const chunk = { type: 'custom', ...base(setup), eventName: 'e', data } as StreamChunk;
      const appended = await setup.streamManager.append(writer, 1, [chunk], 0);
      includes(appended, { kind: 'appended' });
      return settle(setup, { hasEvents: true });
    },
    read: async (setup) => {
      await setup.session.stop();
      return (await toolRowOf(setup))?.events?.[0]?.chunk.data;
    },
  },
  'arguments of a call': {
    prepare: claimed,
    give: (setup, input) => commit(setup, { calls: [server('c', { input })] }),
    read: async ({ session }) => (await session.call('c'))?.spec.input,
  },
  'the result of a call that is not answered in time': {
    prepare: claimed,
    give: (setup, result) =>
      commit(setup, { calls: [client('c', { deadlineMs: 1, onExpiry: { result } })] }),
    read: async ({ session }) => {
      const onExpiry = (await session.call('c'))?.spec.onExpiry;
      return typeof onExpiry === 'object' && onExpiry.result;
    },
  },
  'what a provider says about a text': {
    prepare: claimed,
    give: async (setup, value) => {
      const row = assistantRow(setup.session.writer(await runOf(setup), 1, 1), []);
      const providerMetadata = value as Record<string, Value>;
      return commit(setup, {
        row: { ...row, parts: [{ type: 'text', text: '', providerMetadata }] },
      });
    },
    read: async (setup) => {
      const [part] = ((await rowsOf(setup))[1] as AssistantRow).parts;
      return part?.type === 'text' && part.providerMetadata;
    },
  },
  'the result of a run': {
    prepare: claimed,
    give: (setup, output) => commit(setup, { output }),
    read: async ({ session }) => {
      const [output] = await session.messages('output');
      equal((await session.runs())[0]?.output, output?.output);
      equal((await session.messages('stream_end'))[0]?.finalOutput, output?.output);
      return output?.output;
    },
  },
  'the result of a run from a tool': {
    prepare: working,
    give: (setup, output) => settle(setup, { output }),
    read: async ({ session }) => (await session.record())?.output,
  },
  'an input that a person changed': {
    prepare: asking('approval'),
    give: async (setup, input) =>
      setup.store.calls.settle({
        source: 'approval',
        sessionId: setup.session.id,
        agentType: AGENT,
        toolCallId: 'c',
        decision: { approved: true, at: 1, input },
        permitted: true,
        chunks: [],
        now: 1,
        runId: await runOf(setup),
      }),
    read: async (setup) => {
      const started = await setup.session.start(await runOf(setup), 1, 'c');
      await setup.session.stop();
      const decision = (await toolRowOf(setup))?.decision;
      includes(started, { kind: 'execute', decision: { input: decision?.input } });
      return decision?.input;
    },
  },
  'a client’s result': {
    prepare: asking('client'),
    give: async (setup, output) => setup.session.answer(await runOf(setup), 'c', { output }),
    read: resultOf,
  },
  'a tool’s result': {
    prepare: working,
    give: (setup, output) => settle(setup, {}, output),
    read: resultOf,
  },
  'a tool’s result in its chunk': {
    code: 'invalid_chunk',
    prepare: working,
    give: (setup, result) => {
      const chunk = { type: 'tool_end', ...base(setup), toolCallId: 'c', toolName: 't', result };
      return settle(setup, { chunks: [chunk] });
    },
    read: async ({ session }) => (await session.messages('tool_end'))[0]?.result,
  },
  'state changes that are reverted': {
    code: 'invalid_chunk',
    prepare: working,
    give: async (setup, value) => {
      const { session, streamManager } = setup;
      const runId = await runOf(setup);
      const undo = JSON.stringify([{ op: 'replace', path: '/list', value }]);
      const patches = [{ op: 'add', path: '/list', value }];
      const chunk = { type: 'state_patch', ...base(setup), patches, undo } as StreamChunk;
      await streamManager.append(session.callWriter(runId, 1, 'c', 1), 1, [chunk], 0);
      return session.start(runId, 1, 'c', 2);
    },
    read: async ({ session }) => {
      const [written, reverted] = (await session.messages('state_patch')) as { patches: Value[] }[];
      equal(reverted?.patches[0]?.['value'], written?.patches[0]?.['value']);
      return reverted?.patches[0]?.['value'];
    },
  },
  'a partial reply': {
    prepare: begin,
    give: async (setup, input) => {
      const runId = await runOf(setup);
      const calls = [server('c', { input })];
      const row = assistantRow(setup.session.writer(runId, 1, 1), calls);
      return setup.session.end(runId, 'failed', { row });
    },
    read: async (setup) => {
      const part = ((await rowsOf(setup))[1] as AssistantRow).parts[1];
      return part?.type === 'tool-call' && part.input;
    },
  },
};

export function valueCases({ describe, it }: Suite): void {
  describe('values of people, models and tools', () => {
    for (const [name, way] of Object.entries(WAYS)) {
      const { code = 'validation_error', prepare, give, read } = way;
      it(`are stored unchanged, or refused without a change: ${name}`, async (setup) => {
        const { store, session } = setup;
        await prepare?.(setup);
        const before = await everythingOf(setup);
        await refuses(give(setup, TOO_DEEP), code);
        equal(await everythingOf(setup), before);
        await give(setup, HOSTILE);
        equal(await read(setup), asStored(HOSTILE));
        // The session continues with the value, and is rewound.
        const runId = await runOf(setup);
        await session.stop({ reason: `because ${HALF}` });
        await session.end(runId, 'interrupted');
        await store.queue.begin({ sessionId: session.id, nonce: newNonce(), now: 1 });
        await session.end(await runOf(setup), 'failed');
        includes(await session.retry(), { kind: 'rewound' });
        await store.staging.promoteSettled(session.id);
      });
    }

    it('are copied and rewound with their session', async ({ store, session }) => {
      const copy = (sessionId: string, output: unknown) =>
        store.sessions.branch({
          sessionId,
          agent: AGENT,
          owner: 'ann',
          nonce: newNonce(),
          now: 1,
          rows: [userMessage('u1').row, { role: 'tool', toolCallId: 'c', toolName: 't', output }],
          turn: { turn: 1, row: 0, messageId: 'msg-1', step: 0, hasReplied: false },
          messages: [],
          visibleMessages: 1,
          state: HOSTILE,
        });
      const other = newSessionId();
      await refuses(copy(other, TOO_DEEP), 'validation_error');
      equal(await store.sessions.read(other), undefined);
      equal(await copy(session.id, HOSTILE), { kind: 'branched' });
      equal(
        (await session.rows(1)).map((row) => 'output' in row && row.output),
        [asStored(HOSTILE)],
      );
      const { runId } = await session.newRun('u2');
      await session.ask(runId, 1, []);
      await session.save({}, 1);
      const { id = '' } = (await store.checkpoints.latest(session.id)) ?? {};
      equal((await store.checkpoints.get(session.id, id))?.customState, asStored(HOSTILE));
      includes(await session.retry(), { kind: 'rewound' });
      equal((await store.documents.readState(session.id)).customState, asStored(HOSTILE));
    });

    it('never make a state too deep together, nor delay a run', async ({ store, session }) => {
      await session.newRun();
      const stage = (toolCallId: string, value: unknown): Promise<void> =>
        store.staging.stage(session.id, 's1', {
          toolCallId,
          patches: [{ op: 'add', path: `/${toolCallId}`, value }],
        });
      await stage('a', nested(LIMITS.jsonDepth - 1));
      await refuses(store.staging.promote(session.id, 's1'), 'invalid_patch');
      equal((await store.staging.promoteSettled(session.id)).customState, {});
      await stage('b', 1);
      equal((await store.staging.promoteSettled(session.id)).customState, { b: 1 });
    });

    it('are refused if JSON cannot express them', async (setup) => {
      const { store, streamManager, session } = setup;
      const { runId } = await session.newRun();
      const circle: Value = {};
      circle['again'] = circle;
      const save = (customState: Value) =>
        store.documents.save(session.id, { customState, version: 0 });
      for (const data of [circle, { n: 1n }]) {
        await refuses(save(data), 'validation_error');
        const chunk = { type: 'custom', ...base(setup), eventName: 'e', data } as StreamChunk;
        const appended = streamManager.append(session.writer(runId, 1, 1), 1, [chunk], 0);
        await refuses(appended, 'invalid_chunk');
      }
      await refuses(save({ toJSON: () => undefined }), 'validation_error');
      equal((await store.documents.readState(session.id)).version, 0);
      equal(await session.log(), []);
    });
  });
}

async function everythingOf({ store, session }: Case): Promise<unknown> {
  const view = await session.view();
  if (view === undefined) return undefined;
  const state = await store.documents.readState(session.id);
  return { view, state, log: await session.log() };
}

import type { StreamChunk } from '../../../protocol/chunk.js';
import type { ErrorCode } from '../../../protocol/errors.js';
import type { Decision, Row, ToolRow } from '../../../protocol/rows.js';
import type { UserMessage } from '../../contract/runs.js';
import { equal, includes, refuses } from '../assertions.js';
import { AGENT, assistantRow, newCall, newNonce, newSessionId, userMessage } from '../fixtures.js';
import { DEEP, TOO_DEEP } from '../hostile.js';
import type { Case, Suite } from '../suite.js';

type Value = Record<string, unknown>;

/** A way in which a value enters a session. */
interface Way {
  name: string;
  code: ErrorCode;
  /** Brings the session to the point where the value can enter. */
  prepare?: (setup: Case) => Promise<unknown>;
  give: (setup: Case, value: Value) => Promise<unknown>;
  /** Reads the stored value back. */
  read: (setup: Case) => Promise<unknown>;
}

const runOf = async ({ store, session }: Case): Promise<string> =>
  (await store.sessions.read(session.id))?.runId ?? '';
const rowsOf = ({ store, session }: Case): Promise<Row[]> => store.sessions.rows(session.id, 0);
const stateOf = async ({ store, session }: Case): Promise<unknown> =>
  (await store.documents.readState(session.id)).customState;

const withMetadata = (id: string, metadata: Value): UserMessage => ({
  ...userMessage(id),
  row: { role: 'user', id, parts: [], metadata },
});
const metadataOf = (row: Row | undefined): unknown => row?.role === 'user' && row.metadata;

const base = ({ session }: Case) => ({
  agentId: session.id,
  agentType: AGENT,
  step: 1,
  timestamp: 1,
});

/** A run whose first step has opened these calls. */
async function ask({ session }: Case, ...calls: ReturnType<typeof newCall>[]): Promise<void> {
  await session.ask((await session.newRun()).runId, 1, calls);
}

async function askAndStart(setup: Case): Promise<void> {
  await ask(setup, newCall('c', 'server'));
  await setup.session.start(await runOf(setup), 1, 'c');
}

async function settleTool(setup: Case, extra: object, output: unknown = 1): Promise<unknown> {
  const { store, session } = setup;
  const row: ToolRow = { role: 'tool', toolCallId: 'c', toolName: 'server-tool', output };
  return store.calls.settle({
    source: 'tool',
    writer: session.callWriter(await runOf(setup), 1, 'c', 1),
    toolCallId: 'c',
    row,
    chunks: [],
    now: 1,
    ...extra,
  });
}

const WAYS: Way[] = [
  {
    name: 'the state that a run begins with',
    code: 'validation_error',
    give: ({ session }, state) => session.begin({ state }),
    read: stateOf,
  },
  {
    name: 'metadata of a message',
    code: 'validation_error',
    give: ({ session }, value) => session.begin({ messages: [withMetadata('u1', value)] }),
    read: async (setup) => metadataOf((await rowsOf(setup))[0]),
  },
  {
    name: 'metadata of a message that waits',
    code: 'validation_error',
    prepare: ({ session }) => session.newRun(),
    give: ({ session }, value) =>
      session.begin({ messages: [withMetadata('u2', value)], policy: 'queue' }),
    read: async ({ store, session }) =>
      metadataOf((await store.queue.read(session.id))[0]?.messages[0]?.row),
  },
  {
    name: 'an edit of a message that waits',
    code: 'validation_error',
    prepare: async ({ session }) => {
      await session.newRun();
      await session.enqueue('u2');
    },
    give: ({ store, session }, value) =>
      store.queue.edit({
        sessionId: session.id,
        message: { ...withMetadata('u2', value), hash: 'other' },
        expectedHash: userMessage('u2').hash,
        now: 1,
      }),
    read: async ({ store, session }) =>
      metadataOf((await store.queue.read(session.id))[0]?.messages[0]?.row),
  },
  {
    name: 'metadata of an edited message',
    code: 'validation_error',
    prepare: (setup) => ask(setup),
    give: ({ session }, value) =>
      session.retry({ messageId: 'u1', messages: [withMetadata('u1b', value)] }),
    read: async (setup) => metadataOf((await rowsOf(setup))[0]),
  },
  {
    name: 'a state that is saved',
    code: 'validation_error',
    prepare: ({ session }) => session.newRun(),
    give: ({ store, session }, customState) =>
      store.documents.save(session.id, { customState, version: 0 }),
    read: stateOf,
  },
  {
    name: 'staged changes',
    code: 'validation_error',
    prepare: ({ session }) => session.newRun(),
    give: ({ store, session }, value) =>
      store.staging.stage(session.id, 's1', {
        toolCallId: 'c',
        patches: [{ op: 'replace', path: '', value }],
      }),
    read: stateOf,
  },
  {
    name: 'staged keys',
    code: 'validation_error',
    prepare: ({ session }) => session.newRun(),
    give: ({ store, session }, mergeChanges) =>
      store.staging.stage(session.id, 's1', { toolCallId: 'c', patches: [], mergeChanges }),
    read: stateOf,
  },
  {
    name: 'changes that a call settles with',
    code: 'validation_error',
    prepare: askAndStart,
    give: (setup, value) => settleTool(setup, { changes: [{ op: 'replace', path: '', value }] }),
    read: stateOf,
  },
  {
    name: 'an event beside a result',
    code: 'invalid_chunk',
    prepare: askAndStart,
    give: async (setup, data) => {
      const writer = setup.session.callWriter(await runOf(setup), 1, 'c', 1);
      const chunk: StreamChunk = { type: 'custom', ...base(setup), eventName: 'e', data };
      const appended = await setup.streamManager.append(writer, 1, [chunk], 0);
      includes(appended, { kind: 'appended' });
      return settleTool(setup, { hasEvents: true });
    },
    read: async (setup) => {
      await setup.session.stop();
      const row = (await rowsOf(setup)).find(({ role }) => role === 'tool');
      return row?.role === 'tool' && row.events?.[0]?.chunk.data;
    },
  },
  {
    name: 'arguments of a call',
    code: 'validation_error',
    prepare: async ({ session }) =>
      session.claim(session.writer((await session.newRun()).runId, 1, 1)),
    give: async (setup, input) => {
      const writer = setup.session.writer(await runOf(setup), 1, 1);
      return setup.session.commit(writer, { calls: [newCall('c', 'server', { input })] });
    },
    read: async ({ store, session }) => (await store.calls.read(session.id, 'c'))?.spec.input,
  },
  {
    name: 'the result of a call that is not answered in time',
    code: 'validation_error',
    prepare: async ({ session }) =>
      session.claim(session.writer((await session.newRun()).runId, 1, 1)),
    give: async (setup, result) => {
      const call = newCall('c', 'client', { deadlineMs: 1, onExpiry: { result } });
      return setup.session.commit(setup.session.writer(await runOf(setup), 1, 1), {
        calls: [call],
      });
    },
    read: async ({ store, session }) => {
      const onExpiry = (await store.calls.read(session.id, 'c'))?.spec.onExpiry;
      return typeof onExpiry === 'object' && onExpiry.result;
    },
  },
  {
    name: 'what a provider says about a text',
    code: 'validation_error',
    prepare: async ({ session }) =>
      session.claim(session.writer((await session.newRun()).runId, 1, 1)),
    give: async (setup, value) => {
      const writer = setup.session.writer(await runOf(setup), 1, 1);
      const row = assistantRow(writer, []);
      const providerMetadata = value as Record<string, Value>;
      row.parts = [{ type: 'text', text: '', providerMetadata }];
      return setup.session.commit(writer, { row });
    },
    read: async (setup) => {
      const row = (await rowsOf(setup))[1];
      const part = row?.role === 'assistant' && row.parts[0];
      return part && part.type === 'text' && part.providerMetadata;
    },
  },
  {
    name: 'the result of a run',
    code: 'validation_error',
    prepare: async ({ session }) =>
      session.claim(session.writer((await session.newRun()).runId, 1, 1)),
    give: async (setup, output) =>
      setup.session.commit(setup.session.writer(await runOf(setup), 1, 1), { output }),
    read: async ({ store, session }) => {
      equal((await store.runs.list(session.id))[0]?.output, DEEP);
      return (await session.messages('output'))[0]?.output;
    },
  },
  {
    name: 'the result of a run from a tool',
    code: 'validation_error',
    prepare: askAndStart,
    give: (setup, output) => settleTool(setup, { output }),
    read: async ({ store, session }) => (await store.sessions.read(session.id))?.output,
  },
  {
    name: 'an input that a person changed',
    code: 'validation_error',
    prepare: (setup) => ask(setup, newCall('c', 'approval')),
    give: async (setup, input) => {
      const decision: Decision = { approved: true, at: 1, input };
      return setup.store.calls.settle({
        source: 'approval',
        sessionId: setup.session.id,
        agentType: AGENT,
        toolCallId: 'c',
        runId: await runOf(setup),
        decision,
        chunks: [],
        now: 1,
      });
    },
    read: async (setup) => {
      await setup.session.start(await runOf(setup), 1, 'c');
      await setup.session.stop();
      const row = (await rowsOf(setup)).find(({ role }) => role === 'tool');
      return row?.role === 'tool' && row.decision?.input;
    },
  },
  {
    name: 'a client’s result',
    code: 'validation_error',
    prepare: (setup) => ask(setup, newCall('c', 'client')),
    give: async (setup, output) => setup.session.answer(await runOf(setup), 'c', { output }),
    read: async ({ store, session }) => {
      const row = (await store.calls.read(session.id, 'c'))?.row;
      return row?.role === 'tool' && row.output;
    },
  },
  {
    name: 'a tool’s result',
    code: 'validation_error',
    prepare: askAndStart,
    give: (setup, output) => settleTool(setup, {}, output),
    read: async ({ store, session }) => {
      const row = (await store.calls.read(session.id, 'c'))?.row;
      return row?.role === 'tool' && row.output;
    },
  },
  {
    name: 'a tool’s result in its chunk',
    code: 'invalid_chunk',
    prepare: askAndStart,
    give: (setup, result) =>
      settleTool(setup, {
        chunks: [{ type: 'tool_end', ...base(setup), toolCallId: 'c', toolName: 't', result }],
      }),
    read: async ({ session }) => (await session.messages('tool_end'))[0]?.result,
  },
  {
    name: 'a partial reply',
    code: 'validation_error',
    prepare: ({ session }) => session.newRun(),
    give: async (setup, input) => {
      const runId = await runOf(setup);
      const calls = [newCall('c', 'server', { input })];
      const row = assistantRow(setup.session.writer(runId, 1, 1), calls);
      return setup.session.end(runId, 'failed', { row });
    },
    read: async (setup) => {
      const row = (await rowsOf(setup))[1];
      const part = row?.role === 'assistant' && row.parts[1];
      return part && part.type === 'tool-call' && part.input;
    },
  },
];

export function depthCases({ describe, it }: Suite): void {
  describe('nested values', () => {
    for (const way of WAYS) {
      it(`values that are too deep are refused without a change: ${way.name}`, async (setup) => {
        const { store, session } = setup;
        await way.prepare?.(setup);
        const before = await everythingOf(setup);
        await refuses(way.give(setup, TOO_DEEP), way.code);
        equal(await everythingOf(setup), before);
        await way.give(setup, DEEP);
        equal(await way.read(setup), DEEP);
        // The session continues with the value, and is rewound.
        const runId = await runOf(setup);
        await session.stop();
        await session.end(runId, 'interrupted');
        await store.queue.begin({ sessionId: session.id, nonce: newNonce(), now: 1 });
        await session.end(await runOf(setup), 'failed');
        includes(await session.retry(), { kind: 'rewound' });
        await store.staging.promoteSettled(session.id);
      });
    }

    it('rows of a copy that are too deep are refused', async ({ store, session }) => {
      const copy = (sessionId: string, output: unknown) =>
        store.sessions.branch({
          sessionId,
          agent: AGENT,
          owner: 'ann',
          nonce: newNonce(),
          rows: [userMessage('u1').row, { role: 'tool', toolCallId: 'c', toolName: 't', output }],
          messages: [],
          turn: { turn: 1, row: 0, messageId: 'msg-1', step: 0, hasReplied: false },
          visibleMessages: 1,
          now: 1,
        });
      const other = newSessionId();
      await refuses(copy(other, TOO_DEEP), 'validation_error');
      equal(await store.sessions.read(other), undefined);
      equal(await copy(session.id, DEEP), { kind: 'branched' });
      includes((await store.sessions.rows(session.id, 1))[0], { output: DEEP });
      includes(await session.retry(), { kind: 'rewound' });
    });

    it('changes never make a state too deep together, nor delay a run', async ({
      store,
      session,
    }) => {
      await session.newRun();
      await store.staging.stage(session.id, 's1', {
        toolCallId: 'a',
        patches: [{ op: 'add', path: '/a', value: DEEP }],
      });
      await refuses(store.staging.promote(session.id, 's1'), 'invalid_patch');
      equal((await store.staging.promoteSettled(session.id)).customState, {});
      await store.staging.stage(session.id, 's1', {
        toolCallId: 'b',
        patches: [{ op: 'add', path: '/b', value: 1 }],
      });
      equal((await store.staging.promoteSettled(session.id)).customState, { b: 1 });
    });

    it('values that JSON cannot express are refused', async (setup) => {
      const { store, streamManager, session } = setup;
      const { runId } = await session.newRun();
      const circle: Value = {};
      circle['again'] = circle;
      const writer = session.writer(runId, 1, 1);
      for (const value of [circle, { n: 1n }] as Value[]) {
        const save = store.documents.save(session.id, { customState: value, version: 0 });
        await refuses(save, 'validation_error');
        const chunk: StreamChunk = { type: 'custom', ...base(setup), eventName: 'e', data: value };
        await refuses(streamManager.append(writer, 1, [chunk], 0), 'invalid_chunk');
      }
      const nothing = { toJSON: () => undefined };
      const save = store.documents.save(session.id, { customState: nothing, version: 0 });
      await refuses(save, 'validation_error');
      equal((await store.documents.readState(session.id)).version, 0);
      equal(await session.log(), []);
    });
  });
}

async function everythingOf({ store, session }: Case): Promise<unknown> {
  const view = await store.sessions.view(session.id);
  if (view === undefined) return undefined;
  const state = await store.documents.readState(session.id);
  return { view, state, log: await session.log() };
}

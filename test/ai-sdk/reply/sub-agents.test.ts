import { readSubAgentReport } from '../../../ai-sdk/index.js';
import { toTurnSpan } from '../../../ai-sdk/turns/turn-progress.js';
import type { CallSpec } from '../../../store/contract/call-record.js';
import type { SessionCalls } from '../../../store/contract/sessions.js';
import {
  begin,
  grow,
  newSubAgent,
  settleChild,
  type Tree,
} from '../../../store/conformance/tree.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { assistantRow, drive, newSessionId } from '../../support/session-driver.js';

/** A conversation with a sub-agent for call `d1`, which has one of its own for its call `d9`. */
let tree: Tree;
let below: string;
let stores: ReturnType<typeof createMemoryStores>;

beforeEach(async () => {
  stores = createMemoryStores();
  const session = drive(stores);
  const close = () => Promise.resolve();
  const another = () => Promise.resolve({ ...stores, close });
  const setup = { ...stores, close, session, streamId: newSessionId(), another };
  tree = await grow(setup, 2, () => []);
  const [{ driver: child, ref } = { driver: session, ref: { runId: '' } }] = tree.children;
  const inner = newSubAgent(session.id, 'd9');
  below = inner.child.sessionId;
  const writer = child.writer(ref.runId, 1, 1);
  await child.claim(writer);
  const row = assistantRow(writer, [inner.call]);
  row.parts.unshift({ type: 'text', text: 'I ask another.' });
  await child.commit(writer, { calls: [inner.call], row });
  await begin(setup, child, ref.runId, 'd9', inner.child);
  const deep = drive(stores, below);
  const deepest = deep.writer(inner.child.runId, 1, 1);
  await deep.claim(deepest);
  const written = assistantRow(deepest, []);
  written.parts = [
    { type: 'text', text: 'x'.repeat(30_000) },
    { type: 'tool-call', toolCallId: 'f', toolName: '__finish__', input: {}, kind: 'server' },
  ];
  await deep.commit(deepest, { row: written });
  await settleChild(setup, child, ref.runId, 'd9');
});

it('a tail names the call of the conversation for what sub-agents of sub-agents do', () => {
  const root = tree.root.id;
  const [child, inner] = [`${root}.1-a`, `${root}.1-b`];
  const call = (runId: string, toolCallId: string, sessionId: string) => ({
    state: 'open' as const,
    spec: { runId, toolCallId, child: { sessionId } } as CallSpec,
  });
  const calls = [
    call(`${child}:1-n`, 'd9', inner),
    call(`${root}:1-n`, 'd1', child),
    call(`${inner}:1-n`, 'd8', `${root}.1-c`),
  ];
  const record = { sessionId: root, messageId: 'msg-1', sequence: 9 } as SessionCalls['record'];
  const reader = { profile: 'v7', showsSubAgents: true, viewer: { key: '' } } as never;
  const { subAgents } = toTurnSpan({ record, openCalls: calls }, reader);
  expect([...(subAgents?.values() ?? [])]).toEqual(['d1', 'd1', 'd1']);
});

it('the report of a call reads the sub-agents of that call alone', async () => {
  const read: string[] = [];
  const { sessions } = stores.store;
  const counted: typeof sessions = {
    ...sessions,
    children: () => Promise.reject(new Error('not needed')),
    read: (id) => {
      read.push(id);
      return sessions.read(id);
    },
  };
  const [child] = tree.children;
  await readSubAgentReport({ sessions: counted }, tree.root.id, 'd1');
  expect(read).toEqual([child?.ref.sessionId, below]);
  // An entry of the index that a call of that name has taken leads to no other report.
  const lying = { ...counted, carriers: () => Promise.resolve([below]) };
  expect(await readSubAgentReport({ sessions: lying }, tree.root.id, 'd1')).toEqual([]);
});

it('the report of a call has what each agent below it wrote, in order and bounded', async () => {
  const root = tree.root.id;
  const child = tree.children[0]?.ref.sessionId;
  const events = await readSubAgentReport(stores.store, root, 'd1');
  const brief = events.map((event) =>
    event.kind === 'text'
      ? [event.agentId, event.callId, event.delta.length]
      : [event.agentId, event.callId, event.kind],
  );
  expect(brief).toEqual([
    [child, 'd1', 'step'],
    [child, 'd1', 'tool'],
    [below, 'd1', 'step'],
    [below, 'd1', 20_000],
  ]);
  expect(events[1]).toMatchObject({ agent: 'helper', toolCallId: 'd9', state: 'running' });
  // The calls of other agents are not the conversation's.
  expect(await readSubAgentReport(stores.store, root, 'd9')).toEqual([]);
  expect(await readSubAgentReport(stores.store, newSessionId(), 'd1')).toEqual([]);
});

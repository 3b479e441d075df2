import { applyPatch, type Operation } from 'rfc6902';
import { handleChatStream, type UIMessage } from '../../../ai-sdk/index.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import type { Store } from '../../../store/contract/store.js';
import type { StreamManager } from '../../../store/log/stream-manager.js';
import { parseFrames } from '../../support/chat-fetch.js';
import { assistantRow } from '../../../store/conformance/fixtures.js';
import { drive, newCall, type SessionDriver } from '../../support/session-driver.js';
import { openTestStores } from '../../support/test-stores.js';
import { nextTurn } from '../recorded/next-turn.js';
import { snapshotOf } from '../../support/snapshot-of.js';

/**
 * A snapshot and the stream that follows its sequence show everything once, at whatever moment the
 * snapshot is taken: its sequence is of the same moment as its messages, or of an earlier one.
 */

interface Stores {
  store: Store;
  streamManager: StreamManager;
}

const STEPS = 4;
const WORDS = 8;

/**
 * Says numbered words in steps, and lists the steps in the state, as fast as the store takes them.
 *
 * @param onWord called before each word: pages that came by the clock would slow the writer down, and be more for it
 */
async function writeTurn(
  { store, streamManager }: Stores,
  session: SessionDriver,
  onWord: () => void,
): Promise<void> {
  const begun = await session.newRun({ state: { steps: [] } });
  const { runId } = begun;
  for (let step = 1; step <= STEPS; step += 1) {
    const writer = session.writer(runId, step, 1);
    await session.claim(writer);
    await store.staging.promoteSettled(session.id);
    const author = { agentId: session.id, agentType: 'tester', timestamp: 1, step };
    await streamManager.append(writer, 1, [{ type: 'step_start', ...author }]);
    for (let word = 1; word <= WORDS; word += 1) {
      onWord();
      await session.say(writer, word + 1, toWord(step, word));
      // A store in memory would leave no moment to anybody else.
      await nextTurn();
    }
    const calls = step < STEPS ? [newCall(`c${String(step)}`, 'server')] : [];
    const row = assistantRow(writer, calls);
    const [, ...called] = row.parts;
    const parts = [{ type: 'text' as const, text: toWords(step) }, ...called];
    await session.commit(writer, { calls, row: { ...row, messageId: 'msg-1', parts } });
    for (const { toolCallId } of calls) {
      await session.start(runId, step, toolCallId);
      const changes = [{ op: 'add' as const, path: '/steps/-', value: step }];
      const by = session.callWriter(runId, step, toolCallId, 1);
      await streamManager.append(by, 1, [{ type: 'state_patch', patches: changes, ...author }]);
      await nextTurn();
      await store.calls.settle({
        source: 'tool',
        writer: by,
        toolCallId,
        row: { role: 'tool', toolCallId, toolName: 'server-tool', output: 'ok' },
        changes,
        chunks: [
          { type: 'tool_end', toolCallId, toolName: 'server-tool', result: 'ok', ...author },
        ],
        now: Date.now(),
      });
    }
  }
}

const toWord = (step: number, n: number): string => `w${String(step)}-${String(n)} `;
const toWords = (step: number): string =>
  Array.from({ length: WORDS }, (_, n) => toWord(step, n + 1)).join('');
const WHOLE = Array.from({ length: STEPS }, (_, n) => toWords(n + 1)).join('');
const STATE = { steps: Array.from({ length: STEPS - 1 }, (_, n) => n + 1) };

function textOf(messages: readonly UIMessage[]): string {
  const reply = messages.filter(({ role }) => role === 'assistant');
  return reply
    .flatMap(({ parts }) => parts)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
}

interface Shown {
  text: string;
  state: unknown;
}

/** What a page has that was given a snapshot now, and reads on behind it. */
async function readOn(stores: Stores, sessionId: string, isPartial: boolean): Promise<Shown> {
  const deps = {
    stateStore: stores.store,
    streamManager: stores.streamManager,
    contentReplayEnabled: !isPartial,
    executor: { runs: UNUSED },
    agents: { has: () => true },
  };
  const snapshot = await snapshotOf(deps, sessionId);
  if (snapshot === null) throw new Error('there is no snapshot');
  const headers = new Headers({ 'x-resume-from-sequence': String(snapshot.streamSequence) });
  const response = await handleChatStream(deps, {
    sessionId,
    messages: [],
    request: { method: 'GET', headers },
    userId: 'ann',
    sawActiveSince: null,
  });
  const parts = parseFrames(await response.text()).map(({ part }) => part as WirePart);
  const state = structuredClone(snapshot.state);
  for (const { type, data } of parts) {
    if (type === 'data-state-patch') applyPatch(state, data?.patches ?? []);
  }
  const deltas = parts.map(({ delta = '' }) => delta);
  return { text: textOf(snapshot.messages) + deltas.join(''), state };
}

interface WirePart {
  type: string;
  delta?: string;
  data?: { patches?: Operation[] };
}

const unasked = (): Promise<never> => Promise.reject(new Error('this must not be called'));
const UNUSED = {
  expireCalls: () => Promise.resolve(false),
  execute: unasked,
  retry: unasked,
  stop: unasked,
  submitToolResult: unasked,
};

describe.each([
  ['memory', async (): Promise<Stores> => createMemoryStores()],
  ['Redis', async (): Promise<Stores> => openTestStores()],
])('on %s, beside a writer', (_name, open) => {
  it.each([
    ['without the reply', false],
    ['with as much of it as there is', true],
  ])('snapshots %s continue without a gap or a repetition', async (_kind, isPartial) => {
    const stores = await open();
    const session = drive(stores);
    const pages: Promise<Shown>[] = [];
    const readLater = async (turns: number): Promise<Shown> => {
      for (let n = 0; n < turns; n += 1) await nextTurn();
      return readOn(stores, session.id, isPartial);
    };
    await writeTurn(stores, session, () => pages.push(readLater(pages.length % 4)));
    const shown = await Promise.all(pages);
    expect(shown).toHaveLength(STEPS * WORDS);
    for (const page of shown) expect(page).toEqual({ text: WHOLE, state: STATE });
  });
});

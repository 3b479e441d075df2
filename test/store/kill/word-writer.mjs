// A worker that may be killed at any moment. It claims the next step, writes numbered words and
// commits, until all steps are done or it is refused. It reports to its parent; after `restAfter`
// words it rests until it gets a message.
import { createRedisStores } from '../../../dist/store/redis/index.js';

/** The test kills fewer attempts than this; all of them may die in one step. */
const BUDGET = { most: 100, withinMs: 3_600_000 };

const { url, sessionId, runId, token, steps, words, restAfter } = JSON.parse(process.argv[2]);
let sent = 0;
const agent = { agentId: sessionId, agentType: 'tester' };
const { store, streamManager, close } = createRedisStores({ url, whenAway: 'wait' });

// The process serves only its parent.
process.once('disconnect', () => process.exit());

async function say(writer, step) {
  for (let word = 1; word <= words; word += 1) {
    const delta = `${step}.${word} `;
    const chunk = { type: 'text_delta', ...agent, step, timestamp: Date.now(), delta };
    const { kind } = await streamManager.append(writer, word, [chunk]);
    if (kind !== 'appended') return kind;
    sent += 1;
    process.send({ did: 'append', step, word });
    if (sent === restAfter) await new Promise((resolve) => process.once('message', resolve));
  }
  return undefined;
}

async function commit(writer, step) {
  const isLast = step === steps;
  const { kind } = await store.steps.commit({
    writer,
    known: 0,
    row: { role: 'assistant', messageId: 'msg-1', runId, step, parts: [] },
    calls: [],
    chunks: [{ type: 'step_end', ...agent, step, timestamp: Date.now() }],
    outcome: isLast
      ? { kind: 'ended', step, status: 'completed' }
      : { kind: 'calls', step, calls: [] },
    checkpointId: `cpv1-${sessionId}-s${step}`,
    ...(isLast && { final: { status: 'completed' } }),
    answersStop: false,
    now: Date.now(),
  });
  return kind === 'committed' ? undefined : kind;
}

async function work() {
  for (;;) {
    const step = ((await store.sessions.read(sessionId))?.committedStep ?? 0) + 1;
    if (step > steps) return undefined;
    const writer = { sessionId, runId, name: `m${step}`, token, agentType: 'tester', step };
    const claimed = await store.steps.claim({ writer, known: 0, now: Date.now(), budget: BUDGET });
    if (claimed.kind !== 'claimed') return claimed.kind;
    process.send({ did: 'claim', step });
    const refusal = (await say(writer, step)) ?? (await commit(writer, step));
    if (refusal !== undefined) return refusal;
    process.send({ did: 'commit', step });
  }
}

const refusal = await work();
process.send(refusal === undefined ? { did: 'finish' } : { did: 'stop', refusal });
await close();
process.disconnect();

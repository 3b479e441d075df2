import { formatCheckpointId } from '../../protocol/ids.js';
import type { Driver, NewCall, Writer } from './driver.js';
import {
  AGENT,
  delta,
  messageOf,
  modelOf,
  newCall,
  OWNER,
  replyRow,
  stepEnd,
  subAgentOf,
  type Scene,
} from './inputs.js';

/** Each transition as one call. A refusal is thrown: it would be measured as something quick. */
export function must<R extends { kind: string }>(result: R, kind: R['kind']): R {
  if (result.kind !== kind) throw new Error(`wanted ${kind}, got ${result.kind}`);
  return result;
}

type Policy = 'queue' | 'reject';

export async function begin(
  { begin: send }: Driver,
  sessionId: string,
  nonce: string,
  policy: Policy = 'reject',
): Promise<Scene> {
  const messages = [messageOf(`u-${nonce}`)];
  const session = { agent: AGENT, owner: OWNER };
  const result = await send({ sessionId, ...session, nonce, messages, policy, now: Date.now() });
  if (result.kind === 'queued') return { sessionId, runId: '', messageId: '', step: 0 };
  if (result.kind !== 'begun') throw new Error(`wanted begun, got ${result.kind}`);
  const { runId, messageId } = result.run;
  return { sessionId, runId, messageId, step: 0 };
}

export async function claim(driver: Driver, writer: Writer): Promise<void> {
  must(await driver.claim({ writer, known: 0, now: Date.now() }), 'claimed');
}

/** Appends so many deltas, `perCall` of them at once. */
export async function say(
  { streams }: Driver,
  writer: Writer,
  count: number,
  perCall = 500,
): Promise<void> {
  for (let sent = 0, batch = 1; sent < count; sent += perCall, batch += 1) {
    const size = Math.min(perCall, count - sent);
    const deltas = Array.from({ length: size }, () => delta(writer));
    must(await streams.append(writer, batch, deltas), 'appended');
  }
}

/** Commits the next step with these calls; without any it ends the run. */
export async function commit(driver: Driver, scene: Scene, calls: NewCall[]): Promise<Scene> {
  const writer = modelOf(scene);
  const { step, runId } = writer;
  const isLast = calls.length === 0;
  const result = await driver.commit({
    ...{ writer, known: 0, calls, answersStop: false, now: Date.now() },
    row: replyRow(scene, step, calls),
    chunks: [stepEnd(writer)],
    outcome: isLast
      ? { kind: 'ended', step, status: 'completed' }
      : {
          kind: 'calls',
          step,
          calls: calls.map(({ toolCallId, toolName, kind }) => ({ toolCallId, toolName, kind })),
        },
    checkpointId: formatCheckpointId(runId, step),
    usage: { inputTokens: 1_200, outputTokens: 80 },
    finishReason: isLast ? 'stop' : 'tool-calls',
    ...(isLast && { final: { status: 'completed' } }),
  });
  must(result, 'committed');
  return { ...scene, step };
}

export function commitServerCalls(driver: Driver, scene: Scene, count: number): Promise<Scene> {
  const calls = Array.from({ length: count }, (_, n) => newCall(scene, n + 1, 'server'));
  return commit(driver, scene, calls);
}

export function commitDelegation(driver: Driver, scene: Scene, n?: number): Promise<Scene> {
  const child = subAgentOf(scene, n);
  return commit(driver, scene, [newCall(scene, 1, 'subagent', { child })]);
}

/** The run fails, in a way that may pass. */
export async function end(driver: Driver, { sessionId, runId, step }: Scene): Promise<void> {
  const error = { code: 'provider_error', message: 'The model is away.', retryable: true };
  const run = { sessionId, runId, agentType: AGENT, step };
  must(await driver.end({ ...run, status: 'failed', error, now: Date.now() }), 'ended');
}

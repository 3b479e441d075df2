import { formatCheckpointId } from '../../../../protocol/ids.js';
import type { NewCall } from '../../../../stores/contract/call-record.js';
import type { UserMessage } from '../../../../stores/contract/runs.js';
import { userMessage } from '../../../support/session-driver.js';
import { AGENT, type Scene } from './scene.js';
import type { EventOf } from './session-event.js';
import { batchKey, type Perform } from './session-knowledge.js';

const FAR_MS = 1_000_000_000;

type RunEvent = EventOf<
  | 'begin'
  | 'resume'
  | 'rewind'
  | 'begin queued'
  | 'edit queued'
  | 'remove queued'
  | 'claim'
  | 'say'
  | 'commit'
  | 'discard'
  | 'stop'
  | 'take over'
  | 'end'
>;

export function performRunEvent(event: RunEvent, scene: Scene): Perform {
  const { known, now, id, runId, step, writer, text } = scene;
  const { sessionId, n } = known;
  const sequence = known.record?.sequence ?? 0;
  switch (event.do) {
    case 'begin':
      return ({ store }) =>
        store.runs.begin({
          sessionId,
          agent: event.as === 'other agent' ? 'another' : AGENT,
          owner: event.as === 'stranger' ? 'eve' : 'alice',
          ...(n % 2 === 0 && { tenant: '' }),
          nonce: `n${String(n)}`,
          messages: messagesOf(event, n),
          policy: event.policy,
          ...(n % 3 === 0 && { by: 'ann' }),
          now,
        });
    case 'begin queued':
      return ({ store }) => store.queue.begin({ sessionId, nonce: `n${String(n)}`, now });
    case 'edit queued':
      return async ({ store }) => {
        const waiting = (await store.queue.read(sessionId)).flatMap(({ messages }) => messages);
        const { id: messageId, hash } = waiting[event.at] ?? userMessage('unknown');
        const message = userMessage(messageId, id);
        const expectedHash = event.isStale ? 'other' : hash;
        return store.queue.edit({ sessionId, message, expectedHash, now });
      };
    case 'remove queued':
      return async ({ store }) => {
        const entry = (await store.queue.read(sessionId))[event.at];
        // Rarely everything: then little would ever wait.
        const messageId =
          event.at > 5 ? {} : { messageId: entry?.messages.at(-1)?.id ?? 'unknown' };
        return store.queue.remove({ sessionId, ...messageId, now });
      };
    case 'resume': {
      const input = {
        sessionId,
        ...(!event.isOfThisRun && { runId: 'another' }),
        nonce: `n${String(n)}`,
        mode: event.confirmed ? ('with_confirmation' as const) : ('continue' as const),
        ...(event.confirmed && { by: 'ann' }),
        now,
      };
      return async ({ store }) => {
        const first = await store.runs.resume(input);
        return event.isAgain ? [first, await store.runs.resume(input)] : first;
      };
    }
    case 'rewind':
      return async ({ store }) => {
        const rows = await store.sessions.rows(sessionId, 0);
        const record = await store.sessions.read(sessionId);
        const { checkpoints } =
          record === undefined ? { checkpoints: [] } : await store.checkpoints.list(sessionId);
        const row = event.turn === undefined ? undefined : rows[event.turn];
        const named = row?.role === 'user' ? row.id : 'unknown';
        const input = {
          sessionId,
          runId: event.isOfThisRun ? (record?.runId ?? '') : 'another',
          nonce: `n${String(n)}`,
          now,
          ...(event.checkpoint === undefined
            ? {
                mode: 'retry' as const,
                ...(event.turn !== undefined && { messageId: named }),
              }
            : {
                mode: 'from_checkpoint' as const,
                checkpointId: checkpoints[event.checkpoint]?.id ?? 'unknown',
              }),
        };
        const first = await store.runs.rewind(input);
        return event.isAgain ? [first, await store.runs.rewind(input)] : first;
      };
    case 'claim':
      return ({ store }) =>
        store.steps.claim({
          writer: writer(event.token, Math.max(1, step - 1 + event.step)),
          known: sequence + Number(event.isAhead),
          now,
        });
    case 'say': {
      const last = known.batches.get(batchKey(known, step, event.token)) ?? 0;
      return ({ streamManager }) =>
        streamManager.append(
          writer(event.token),
          last + event.batch,
          [text(`${id} `), text('and ')],
          sequence + Number(event.isAhead),
        );
    }
    case 'commit':
      return performCommit(event, scene);
    case 'discard':
      return ({ store }) =>
        store.steps.discard({
          writer: writer(event.token),
          failure: event.failure,
          reason: 'x',
          ...(event.hasUsage && { usage: { inputTokens: 10, outputTokens: 0, costMicroUsd: n } }),
          now,
        });
    case 'stop':
      return ({ store }) =>
        store.runs.stop(sessionId, {
          mode: event.mode,
          reason: id,
          by: 'ann',
          ...(!event.isOfThisRun && { runId: 'another' }),
        });
    case 'take over':
      return ({ store }) => store.steps.takeOver({ sessionId, runId, name: `m${String(step)}` });
    case 'end':
      return ({ store }) =>
        store.runs.end({
          sessionId,
          runId,
          agentType: AGENT,
          step,
          status: event.status,
          ...(event.status === 'failed' && {
            error: { code: 'state_lost', message: 'Lost.', retryable: true },
          }),
          ...(event.hasRow && { row: scene.reply() }),
          floor: event.floor,
          now,
        });
  }
}

/** New messages; `repeat` and `edit` begin with one whose id may have been accepted before. */
function messagesOf({ messages, hidden, as }: EventOf<'begin'>, n: number): UserMessage[] {
  return Array.from({ length: messages }, (_, at) => {
    const isKnown = at === 0 && (as === 'repeat' || as === 'edit');
    const message = userMessage(isKnown ? 'u0' : `u${String(n)}-${String(at)}`);
    return { ...message, ...(isKnown && { hash: as }), hidden };
  });
}

function performCommit(event: EventOf<'commit'>, scene: Scene): Perform {
  const { known, now, id, runId, step, writer, text } = scene;
  const { final } = event;
  const error = { code: 'provider_error', message: 'No.', retryable: false };
  return ({ store }) =>
    store.steps.commit({
      writer: writer(event.token),
      known: (known.record?.sequence ?? 0) + Number(event.isAhead),
      ...(event.hasRow && { row: scene.reply() }),
      calls: newCalls(event, id),
      chunks: [text(`committed ${id}`)],
      outcome:
        final === undefined
          ? { kind: 'calls', step, calls: [] }
          : { kind: 'ended', step, status: final },
      checkpointId: formatCheckpointId(runId, step),
      ...(final !== undefined && {
        final: { status: final, ...(final === 'failed' && { error }) },
      }),
      answersStop: event.answersStop,
      ...(event.hasUsage && {
        usage: { inputTokens: 3, outputTokens: 2, cachedTokens: 1, reasoningTokens: 1 },
        finishReason: 'tool-calls',
      }),
      ...(event.hasOutput && { output: { list: [], object: {}, n: 1e15, of: id } }),
      now,
    });
}

function newCalls({ calls }: EventOf<'commit'>, id: string): NewCall[] {
  return calls.map(({ kind, idempotent, deadline, isInvalid }, at) => {
    const toolCallId = `${id}-${String(at)}`;
    const toolName = `${kind}-tool`;
    return {
      toolCallId,
      toolName,
      kind,
      input: { of: toolCallId, list: [], object: {} },
      idempotent,
      ...(deadline !== 'none' && { deadlineMs: deadline === 'past' ? 0 : FAR_MS }),
      ...(isInvalid && { row: { role: 'tool', toolCallId, toolName, error: 'No such input.' } }),
    };
  });
}

import { formatCheckpointId } from '../../../../protocol/ids.js';
import type { NewCall, UserMessage } from '../../../../stores/transitions.js';
import { userMessage } from '../../../support/session-driver.js';
import { AGENT, type Scene } from './scene.js';
import type { EventOf } from './session-event.js';
import { batchKey, type Perform } from './session-knowledge.js';

const FAR_MS = 1_000_000_000;

type RunEvent = EventOf<'begin' | 'claim' | 'say' | 'commit' | 'discard' | 'stop' | 'end'>;

export function performRunEvent(event: RunEvent, scene: Scene): Perform {
  const { known, now, id, runId, step, writer, text } = scene;
  const { sessionId, n } = known;
  const sequence = known.record?.sequence ?? 0;
  switch (event.do) {
    case 'begin':
      return ({ store }) =>
        store.begin({
          sessionId,
          agent: event.as === 'other agent' ? 'another' : AGENT,
          owner: event.as === 'stranger' ? 'eve' : 'alice',
          ...(n % 2 === 0 && { tenant: '' }),
          nonce: `n${String(n)}`,
          messages: messagesOf(event, n),
          now,
        });
    case 'claim':
      return ({ store }) =>
        store.claim({
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
        store.discard({
          writer: writer(event.token),
          failure: event.failure,
          reason: 'x',
          ...(event.hasUsage && { usage: { inputTokens: 10, outputTokens: 0, costMicroUsd: n } }),
          now,
        });
    case 'stop':
      return ({ store }) =>
        store.stop(sessionId, {
          mode: event.mode,
          reason: id,
          by: 'ann',
          ...(!event.isOfThisRun && { runId: 'another' }),
        });
    case 'end':
      return ({ store }) =>
        store.end({
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
    store.commit({
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

import type { ToolRow } from '../../../../protocol/rows.js';
import { AGENT, type Scene } from './scene.js';
import type { EventOf } from './session-event.js';
import type { Perform } from './session-knowledge.js';

type CallEvent = EventOf<'start' | 'finish' | 'decide' | 'answer' | 'expire' | 'extend'>;

export function performCallEvent(event: CallEvent, scene: Scene): Perform {
  const { known, now, id, runId, text } = scene;
  const { calls, sessionId } = known;
  const toolCallId = calls[calls.length - 1 - event.call]?.id ?? 'unknown';
  const base = { role: 'tool', toolCallId, toolName: 'a-tool' } as const;
  const result: ToolRow = { ...base, output: { id } };
  const failure: ToolRow = { ...base, error: id };
  const chunks = [text(`settled ${id}`)];
  const answer = { sessionId, agentType: AGENT, toolCallId, runId, chunks, now };

  switch (event.do) {
    case 'start':
      return ({ store }) =>
        store.calls.start({ writer: callWriter(scene, toolCallId, event.token), toolCallId, now });
    case 'finish': {
      const writer = callWriter(scene, toolCallId, event.token);
      return ({ store }) =>
        store.calls.settle({
          source: 'tool',
          writer,
          toolCallId,
          row: result,
          changes: [{ op: 'add', path: `/${id}`, value: toolCallId }],
          output: { id },
          chunks,
          now,
        });
    }
    case 'decide': {
      const decision = { approved: event.approved, at: now, by: 'bob' };
      const denial: ToolRow = { ...base, denied: true, decision };
      return ({ store }) =>
        store.calls.settle({
          source: 'approval',
          ...answer,
          decision,
          ...(!event.approved && { row: denial }),
        });
    }
    case 'answer': {
      const row = event.isError ? failure : result;
      return ({ store }) =>
        store.calls.settle({ source: 'client', ...answer, row, late: `Said ${id}.` });
    }
    case 'expire': {
      if (event.as === 'failed')
        return ({ store }) => store.calls.settle({ source: 'expiry', ...answer, row: failure });
      const decision = { approved: event.as === 'approved', at: now, automatic: true };
      const denial: ToolRow = { ...base, denied: true, decision };
      return ({ store }) =>
        store.calls.settle({
          source: 'expiry',
          ...answer,
          decision,
          ...(!decision.approved && { row: denial }),
        });
    }
    case 'extend':
      return ({ store }) =>
        store.calls.extendDeadline({ sessionId, runId, toolCallId, byMs: event.by, now });
  }
}

function callWriter({ writer }: Scene, toolCallId: string, token: number) {
  return { ...writer(token), name: `t:${toolCallId}` };
}

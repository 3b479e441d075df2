import type { ModelMessage } from 'ai';
import { toPromptMessages } from '../../../activities/model/prepare-messages.js';
import type { AgentExecutor } from '../../../runs/executor.js';
import { HelixError } from '../../../protocol/errors.js';
import type { AssistantPart, Row, ToolRow } from '../../../protocol/rows.js';
import type { Store } from '../../../store/contract/store.js';
import { toMarks, toUserPart, type PromptMessage } from './read-call.js';

interface ForeignHistory {
  sessionId: string;
  agent: string;
  owner: string;
  messages: readonly ModelMessage[];
}

/**
 * Begins a run of a conversation whose messages a program has stored elsewhere. The model gets these
 * messages, but they authorise nothing: calls without a result are left out. A refused run leaves no
 * trace of them.
 */
export async function beginAfterHistory<Handle>(
  executor: Pick<AgentExecutor, 'runs' | 'deleteSession'>,
  { sessions }: Pick<Store, 'sessions'>,
  { messages, ...whose }: ForeignHistory,
  begin: () => Promise<Handle>,
): Promise<Handle> {
  const { sessionId } = whose;
  const rows = toRows(await toPromptMessages([...messages]), `${sessionId}:0-history`);
  const isAdopted = rows.length > 0 && (await executor.runs.adopt({ ...whose, rows }));
  try {
    return await begin();
  } catch (error) {
    // After an outage the run may have begun all the same.
    const isRefused = HelixError.isInstance(error) && error.code !== 'unavailable';
    if (isAdopted && isRefused) await dropUnused().catch(() => undefined);
    throw error;
  }

  /** Deletes the adopted conversation unless another call has begun a run of it. */
  async function dropUnused(): Promise<void> {
    const record = await sessions.read(sessionId);
    if (record?.runMode === 'branch') await executor.deleteSession(sessionId);
  }
}

/** Pure. */
function toRows(messages: readonly PromptMessage[], runId: string): Row[] {
  const rows: Row[] = [];
  let shown = 0;
  let reply: { messageId: string; step: number } | undefined;
  for (const message of messages) {
    if (message.role === 'user') {
      reply = undefined;
      shown += 1;
      const id = `h-${String(shown)}`;
      rows.push({ role: 'user', id, parts: message.content.map(toUserPart), ...toMarks(message) });
    } else if (message.role === 'assistant') {
      reply ??= { messageId: `msg-${String(shown++)}`, step: 0 };
      reply.step += 1;
      rows.push({ role: 'assistant', runId, ...reply, parts: message.content.flatMap(toPart) });
    } else if (message.role === 'tool') {
      for (const part of message.content) {
        if (part.type !== 'tool-result') continue;
        const { toolCallId, toolName } = part;
        rows.push({ role: 'tool', toolCallId, toolName, ...toOutcome(part) });
      }
    }
  }
  return rows;
}

type AssistantContent = Extract<PromptMessage, { role: 'assistant' }>['content'][number];
type Result = Extract<AssistantContent, { type: 'tool-result' }>;

/** Converts a part, without content that only its provider can read. */
function toPart(part: AssistantContent): AssistantPart[] {
  const { providerOptions: providerMetadata } = part;
  const mark = providerMetadata === undefined ? {} : { providerMetadata };
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [{ type: part.type, text: part.text, ...mark }];
    case 'tool-call': {
      const { toolCallId, toolName, input } = part;
      const kind = part.providerExecuted === true ? 'provider' : 'server';
      return [{ type: 'tool-call', toolCallId, toolName, input, kind, ...mark }];
    }
    case 'tool-result': {
      const { type, toolCallId, toolName } = part;
      const { error, output = error ?? null } = toOutcome(part);
      const isError = error !== undefined && { isError: true };
      return [{ type, toolCallId, toolName, output, ...isError, ...mark }];
    }
    case 'file': {
      const { type, mediaType } = part;
      const { url } = toUserPart(part) as { url: string };
      return [{ type, url, mediaType, ...mark }];
    }
    default:
      return [];
  }
}

function toOutcome({ output }: Result): Pick<ToolRow, 'output' | 'error' | 'denied' | 'decision'> {
  switch (output.type) {
    case 'text':
    case 'json':
      return { output: output.value };
    case 'error-text':
      return { error: output.value };
    case 'error-json':
      return { error: JSON.stringify(output.value) };
    case 'execution-denied': {
      const reason = output.reason === undefined ? {} : { reason: output.reason };
      return { denied: true, decision: { approved: false, at: 0, ...reason } };
    }
    case 'content':
      // Only the text of the tool's output for the model is kept.
      return {
        output: output.value.map((each) => (each.type === 'text' ? each.text : '')).join(''),
      };
  }
}

import { COMMON_METADATA_KEYS } from '../../protocol/ids.js';
import { isTerminal, type RunStatus } from '../../protocol/run.js';
import { UserPart } from '../../protocol/rows.js';
import { CASE_VERSION, type EvalCase, type RecordedCall, type RecordedTurn } from './case.js';

/** The recorded part of a UI message. */
export interface RecordedMessage {
  role: string;
  parts: readonly RecordedPart[];
  metadata?: Record<string, unknown> | undefined;
}

interface RecordedPart {
  type: string;
  text?: string;
  toolName?: string;
  state?: string;
  input?: unknown;
  output?: unknown;
  errorText?: string;
  approval?: { approved?: boolean; reason?: string; input?: unknown };
  data?: unknown;
}

/** Data of a conversation to freeze. */
export interface Recording {
  name: string;
  agent: string;
  status: RunStatus;
  /** All messages, including those hidden from pages. */
  messages: readonly RecordedMessage[];
  usage?: EvalCase['usage'];
  now: Date;
}

/** Freezes a conversation. @throws Error for one without a user's message */
export function toCase({ name, agent, status, messages, usage, now }: Recording): EvalCase {
  const turns: RecordedTurn[] = [];
  let isAnswered = true;
  for (const message of messages) {
    const { role, parts, metadata } = message;
    if (role === 'user') {
      if (isAnswered) turns.push({ user: [], steps: 0, calls: [], text: '' });
      isAnswered = false;
      const hidden = metadata?.[COMMON_METADATA_KEYS.HIDDEN] === true;
      turns.at(-1)?.user.push({
        parts: parts.flatMap((part) => UserPart.safeParse(part).data ?? []),
        ...(metadata !== undefined && { metadata }),
        ...(hidden && { hidden }),
      });
      continue;
    }
    const turn = turns.at(-1);
    if (role !== 'assistant' || turn === undefined) continue;
    isAnswered = true;
    Object.assign(turn, toReply(parts));
  }
  if (turns.length === 0) throw new Error('the conversation has no message of a user');
  return {
    helixCase: CASE_VERSION,
    name,
    agent,
    recordedAt: now.toISOString(),
    status: isTerminal(status) ? status : 'waiting',
    turns,
    ...(usage !== undefined && { usage }),
  };
}

function toReply(parts: readonly RecordedPart[]): Omit<RecordedTurn, 'user'> {
  const steps: RecordedPart[][] = [];
  for (const part of parts) {
    if (part.type === 'step-start') steps.push([]);
    else steps.at(-1)?.push(part);
  }
  // The last step may be empty: such a step only keeps clients from posting again.
  const spoken = steps.filter((step) => step.length > 0);
  const last = spoken.findLast((step) => step.some(({ type }) => type === 'text')) ?? [];
  const output = parts.find(({ type }) => type === 'data-output');
  return {
    steps: spoken.length,
    calls: parts.flatMap(toRecordedCall),
    text: last.map(({ type, text = '' }) => (type === 'text' ? text : '')).join(''),
    ...(output !== undefined && { output: output.data }),
  };
}

/** Returns nothing for a part that is not a call. */
function toRecordedCall(part: RecordedPart): RecordedCall | [] {
  const { type, input, approval } = part;
  // Client tools' parts have the tool's name in their type.
  const tool = part.toolName ?? /^tool-(.+)$/.exec(type)?.[1];
  if (tool === undefined) return [];
  const { approved, reason } = approval ?? {};
  const result = toResult(part);
  return {
    tool,
    input,
    ...(approved !== undefined && {
      decision: {
        approved,
        ...(reason !== undefined && { reason }),
        ...(approval !== undefined && 'input' in approval && { input: approval.input }),
      },
    }),
    ...(result !== undefined && { result }),
  };
}

function toResult({ state, output, errorText = '' }: RecordedPart): RecordedCall['result'] {
  switch (state) {
    case 'output-available':
      return { output };
    case 'output-error':
      return { error: errorText };
    case 'output-denied':
      return { denied: true };
    default:
      return undefined;
  }
}

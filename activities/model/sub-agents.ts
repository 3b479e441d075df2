import { randomBytes } from 'node:crypto';
import { resolveMaxSteps } from '../../agents/define-agent.js';
import type { AgentDefinition, ToolDefinition } from '../../agents/definitions.js';
import type { StepRef } from '../../protocol/activities.js';
import { childPartOf, formatChildSessionId, rootOf } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { NewCall, SessionStore } from '../../stores/session-store.js';
import type { OpenedCall } from './proposed-calls.js';

/** What a step of an agent needs to know about sub-agents: its own, and that it is one. */

const NONCE_BYTES = 12;

/** True where another sub-agent would be too deep. */
export function isTooDeep({ depth = 0 }: Pick<StepRef, 'depth'>): boolean {
  return depth >= LIMITS.subAgentDepth;
}

/** The run that carries a call out; its ids cannot be guessed. */
export function mintChild(
  sessionId: string,
  { agent, toMessage }: NonNullable<ToolDefinition['subAgent']>,
  input: unknown,
): NonNullable<NewCall['child']> {
  const nonce = randomBytes(NONCE_BYTES).toString('hex');
  const id = formatChildSessionId(rootOf(sessionId), 1, nonce);
  return {
    sessionId: id,
    runId: `${id}:1-${randomBytes(6).toString('hex')}`,
    agent: agent.name,
    maxSteps: Math.min(resolveMaxSteps(agent), Number.MAX_SAFE_INTEGER),
    ...(agent.outputSchema !== undefined && { hasOutput: true }),
    message: toMessage(input),
  };
}

/**
 * Keeps back what asks people where a sub-agent may ask as well: the pause shows all of it together,
 * in the conversation's message.
 */
export function holdBack(sessionId: string, opened: readonly OpenedCall[]): OpenedCall[] {
  const isChild = childPartOf(sessionId) !== '';
  const delegates = opened.some(({ call }) => call.kind === 'subagent' && call.row === undefined);
  if (!isChild && !delegates) return [...opened];
  return opened.map(({ call, chunks }) => {
    const { kind, row } = call;
    const [ask, ...rest] = chunks;
    const isAsked = (kind === 'approval' || kind === 'client') && row === undefined;
    if (!isAsked || ask === undefined) return { call, chunks };
    return { call: { ...call, ask: { ...ask, agentId: rootOf(sessionId) } }, chunks: rest };
  });
}

/** Tools of which nobody is told before the step is stored: their calls may be kept back then. */
export function quietTools({ tools }: AgentDefinition, sessionId: string): ReadonlySet<string> {
  const mayDelegate = tools.some(({ subAgent }) => subAgent !== undefined);
  if (!mayDelegate || childPartOf(sessionId) !== '') return new Set();
  const asking = tools.filter(
    ({ execute, requireApproval }) => execute === 'client' || requireApproval !== undefined,
  );
  return new Set(asking.map(({ name }) => name));
}

/** Ids of calls that this session may not use, beside those of its own transcript. */
export async function readTakenCallIds(
  store: Pick<SessionStore, 'readSubAgentCallIds'>,
  sessionId: string,
  { tools }: AgentDefinition,
): Promise<string[]> {
  const mayDelegate = tools.some(({ subAgent }) => subAgent !== undefined);
  return mayDelegate ? store.readSubAgentCallIds(rootOf(sessionId)) : [];
}

/** Of a sub-agent's step: gives its calls ids that nobody else in the conversation has. */
export function callIdTaker(
  store: Pick<SessionStore, 'takeCallId'>,
  { sessionId, step }: Pick<StepRef, 'sessionId' | 'step'>,
): ((wanted: string) => Promise<string>) | undefined {
  if (childPartOf(sessionId) === '') return undefined;
  return (wanted) => store.takeCallId(sessionId, `${String(step)} ${wanted}`, wanted);
}

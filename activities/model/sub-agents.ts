import type { AgentDefinition } from '../../agents/definitions.js';
import type { StepRef } from '../../protocol/activities.js';
import { childPartOf, rootOf } from '../../protocol/ids.js';
import type { Store } from '../../stores/contract/store.js';
import type { OpenedCall } from './proposed-calls.js';

/** What a step of an agent needs to know about sub-agents: its own, and that it is one. */

/**
 * Keeps back what asks people where a sub-agent may ask as well, in whatever order the model named
 * its calls: the pause shows all of it together, in the conversation's message.
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

/**
 * Which of a reply's calls viewers do not see before the step is stored: those that may ask people,
 * if the agent has sub-agents. A sub-agent that the model names later keeps their questions back.
 */
export function createQuietness(
  { tools }: AgentDefinition,
  sessionId: string,
): (toolName: string) => boolean {
  const isRoot = childPartOf(sessionId) === '';
  const mayDelegate = tools.some(({ subAgent }) => subAgent !== undefined);
  if (!isRoot || !mayDelegate) return () => false;
  const asking = tools.filter(
    ({ execute, requireApproval }) => execute === 'client' || requireApproval !== undefined,
  );
  const names = new Set(asking.map(({ name }) => name));
  return (toolName) => names.has(toolName);
}

/**
 * Gives a step's calls ids that no other call of the conversation has, where the session's own rows
 * do not show all of them: sub-agents make calls as well, and a rewind drops rows.
 */
export function callIdTaker(
  { calls }: Pick<Store, 'calls'>,
  { sessionId, runId, step }: Pick<StepRef, 'sessionId' | 'runId' | 'step'>,
  { tools }: AgentDefinition,
  hasDroppedCalls: boolean,
): ((wanted: string) => Promise<string>) | undefined {
  const mayDelegate = tools.some(({ subAgent }) => subAgent !== undefined);
  if (childPartOf(sessionId) === '' && !mayDelegate && !hasDroppedCalls) return undefined;
  return async (wanted) => {
    const call = `${String(step)} ${wanted}`;
    const taken = await calls.takeId({ sessionId, runId, call, wanted });
    // A run that was superseded commits nothing, so any id will do.
    return taken.kind === 'taken' ? taken.id : wanted;
  };
}

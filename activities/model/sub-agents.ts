import type { AgentDefinition } from '../../agents/definitions.js';
import type { StepRef } from '../../protocol/activities.js';
import { childPartOf, rootOf } from '../../protocol/ids.js';
import type { Store } from '../../stores/contract/store.js';
import type { OpenedCall } from './proposed-calls.js';
import type { StepReply } from './step-reply.js';

/** What a step of an agent needs to know about sub-agents: its own, and that it is one. */

/**
 * Keeps back what asks people where a sub-agent may ask as well: the pause shows all of it together,
 * in the conversation's message. What was asked before the first sub-agent was named stays where
 * people have seen it begin.
 */
export function holdBack(
  sessionId: string,
  opened: readonly OpenedCall[],
  { quietCalls }: Pick<StepReply, 'quietCalls'>,
): OpenedCall[] {
  const isChild = childPartOf(sessionId) !== '';
  const delegates = opened.some(({ call }) => call.kind === 'subagent' && call.row === undefined);
  if (!isChild && !delegates) return [...opened];
  return opened.map(({ call, chunks }) => {
    const { kind, row, toolCallId } = call;
    const [ask, ...rest] = chunks;
    const isAsked = (kind === 'approval' || kind === 'client') && row === undefined;
    const isHeld = isChild || quietCalls.has(toolCallId);
    if (!isAsked || !isHeld || ask === undefined) return { call, chunks };
    return { call: { ...call, ask: { ...ask, agentId: rootOf(sessionId) } }, chunks: rest };
  });
}

/**
 * Which of a reply's calls nobody is told of before the step is stored, because they may be kept
 * back then: those that ask people, once a sub-agent was named. Asked for each call as it begins.
 */
export function createQuietness(
  { tools }: AgentDefinition,
  sessionId: string,
): (toolName: string) => boolean {
  const isChild = childPartOf(sessionId) !== '';
  let delegates = false;
  return (toolName) => {
    const tool = tools.find(({ name }) => name === toolName);
    delegates ||= tool?.subAgent !== undefined;
    const asks = tool?.execute === 'client' || tool?.requireApproval !== undefined;
    return !isChild && delegates && asks;
  };
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

import type { AgentDefinition } from '../../agents/definitions.js';
import { childPartOf, rootOf } from '../../protocol/ids.js';
import type { ActivityDeps } from '../deps.js';
import type { StepMiddleware } from './middleware.js';
import type { OpenedCall } from './proposed-calls.js';

/**
 * Defers the chunks that ask people if a sub-agent of the same step may ask too: the pause then
 * shows all questions together in the conversation's message, whatever the order of the calls.
 */
export function deferAsks(sessionId: string, opened: readonly OpenedCall[]): OpenedCall[] {
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
 * Returns a test for calls that viewers see only after the step is stored: those that may ask
 * people, if the agent has sub-agents, since a later sub-agent in the reply defers their questions.
 */
export function deferredCallsOf(
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

/** Returns a test for tools that pages execute and know by name. */
export function clientToolsOf({ tools }: AgentDefinition): (toolName: string) => boolean {
  const known = tools.filter(({ execute, isDynamic }) => execute === 'client' && !isDynamic);
  const names = new Set(known.map(({ name }) => name));
  return (toolName) => names.has(toolName);
}

/**
 * Makes call ids unique in the conversation if the session's rows do not show all calls: they lack
 * calls of sub-agents and calls that a rewind dropped.
 */
export function callIds({ store }: Pick<ActivityDeps, 'store'>): StepMiddleware {
  return ({ ref: { sessionId, runId, step }, agent: { tools }, claim }) => {
    const mayDelegate = tools.some(({ subAgent }) => subAgent !== undefined);
    const isShown = childPartOf(sessionId) === '' && !mayDelegate && claim.hasDroppedCalls !== true;
    const take = async (wanted: string): Promise<string> => {
      const call = `${String(step)} ${wanted}`;
      const taken = await store.calls.takeId({ sessionId, runId, call, wanted });
      // A superseded run commits nothing, so any id will do.
      return taken.kind === 'taken' ? taken.id : wanted;
    };
    return (request, next) => {
      if (!isShown) request.takeCallId = take;
      return next(request);
    };
  };
}

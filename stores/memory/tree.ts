import { isTerminal } from '../../protocol/run.js';
import type { MemoryCall, MemorySession } from './session.js';

/** The sub-agents at work below a session, in the order of the calls, each followed by its own. */
export function sessionsBelow(session: MemorySession): MemorySession[] {
  return [...session.calls.values()].flatMap((call) => {
    const child = childOf(session, call);
    return child === undefined ? [] : [child, ...sessionsBelow(child)];
  });
}

/** The sub-agent that carries a call out, while it is at work. */
export function childOf({ root }: MemorySession, call: MemoryCall): MemorySession | undefined {
  if (call.child === undefined || call.state === 'settled') return undefined;
  const child = root.children.get(call.child.sessionId);
  return child?.run === undefined || isTerminal(child.run.status) ? undefined : child;
}

/** Whose call it is: answers are given to the conversation. */
export function ownerOf(session: MemorySession, toolCallId: string): MemorySession {
  if (session.calls.has(toolCallId) || session.settled.has(toolCallId)) return session;
  const owner = session.root.owners.get(toolCallId);
  return (owner && session.root.children.get(owner.sessionId)) ?? session;
}

export function isConversation(session: MemorySession): boolean {
  return session.root === session;
}

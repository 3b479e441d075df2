import { isSessionId } from '../../protocol/ids.js';

/** What the address of the page says: which conversation, and which agent answers in it. */
export interface Place {
  sessionId: string;
  agent?: string;
}

/** The place that a query string names, or undefined if it names no usable session. */
export function readPlace(search: string): Place | undefined {
  const query = new URLSearchParams(search);
  const sessionId = query.get('session');
  if (!isSessionId(sessionId)) return undefined;
  return placeOf(sessionId, readAgent(search));
}

/** True for an address that means to name a session, usable or not. */
export function namesSession(search: string): boolean {
  return new URLSearchParams(search).has('session');
}

/** The agent may be chosen by a link that leaves the session to the page. */
export function readAgent(search: string): string | undefined {
  return new URLSearchParams(search).get('agent') ?? undefined;
}

export function placeSearch(place: Place): string {
  const query = new URLSearchParams({ session: place.sessionId });
  if (place.agent !== undefined) query.set('agent', place.agent);
  return `?${query.toString()}`;
}

export function placeOf(sessionId: string, agent: string | undefined): Place {
  return agent === undefined ? { sessionId } : { sessionId, agent };
}

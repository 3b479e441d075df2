import { toReply } from '../record/play.js';
import type { Played } from '../record/records.js';
import { staleRequests, type StaleRequest } from '../requests/stale.js';

export function refusalRule({ promise }: Pick<StaleRequest, 'promise'>): string {
  return `${promise}, a stale request is refused`;
}

/** A record refuses requests whose senders may change nothing. */
export function findAccepted({ play, after, now, facts, isNew }: Played): string | undefined {
  if (!isNew) return undefined;
  for (const stale of staleRequests(facts)) {
    const { request, replies } = stale;
    const { reply, writes } = play(after, request.toSent(facts), now);
    const { kind } = toReply(reply);
    const rule = `${refusalRule(stale)}: ${request.key}`;
    if (writes[0] !== undefined) return `${rule} writes ${writes[0].slice(0, 4).join(' ')}`;
    if (!replies.includes(kind)) return `${rule} is ${kind}`;
  }
  return undefined;
}

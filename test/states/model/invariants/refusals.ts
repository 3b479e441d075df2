import { copyOnWrite } from '../record/copy-on-write.js';
import { toReply } from '../record/play.js';
import type { Played } from '../record/records.js';
import { staleRequests, type StaleRequest } from '../requests/stale.js';

export function refusalRule({ promise }: Pick<StaleRequest, 'promise'>): string {
  return `${promise}, a stale request is refused`;
}

/** A record refuses requests whose senders may change nothing. */
export function findAccepted({ play, after, facts, isNew }: Played): string | undefined {
  if (!isNew) return undefined;
  for (const stale of staleRequests(facts)) {
    const { request, replies } = stale;
    const copied = copyOnWrite(after);
    const { kind } = toReply(play(copied.keyspace, request.toCall(facts)));
    const written = copied.firstWrite();
    const rule = `${refusalRule(stale)}: ${request.key}`;
    if (written !== undefined) return `${rule} writes ${written}`;
    if (!replies.includes(kind)) return `${rule} is ${kind}`;
  }
  return undefined;
}

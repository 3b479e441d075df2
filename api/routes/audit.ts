import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  AuditExportQuery,
  AuditQuery,
  AuditReply,
  AuditVerdictReply,
  type AuditEntryReply,
} from '../../protocol/audit.js';
import { LIMITS } from '../../protocol/limits.js';
import type {
  Audit,
  AuditQuery as StoredQuery,
  ChainedEntry,
} from '../../stores/contract/audit.js';
import { toAct } from '../../stores/record/acts.js';
import { toActor } from '../actor.js';
import { requireRole } from '../require-role.js';
import { defineRoute, type Route } from './route.js';

/** The audit trail of the caller's tenant. */
export const AUDIT_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/operator/audit',
    id: 'listAudit',
    summary: 'List entries of the audit trail, newest first',
    query: AuditQuery,
    replies: { 200: { description: 'A page.', content: { json: AuditReply } } },
    refusals: ['not_allowed'],
    handle: async ({ deps, response, query, caller }) => {
      requireRole(caller, 'operator');
      const { limit, cursor } = query;
      const page = { ...toFilter(query), limit, cursor };
      const { entries, cursor: next } = await deps.stateStore.audit.page(caller.tenantId, page);
      const reply: AuditReply = { entries: entries.map(toReply), cursor: next };
      response.json(reply);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/audit/verify',
    id: 'verifyAudit',
    summary: 'Check that the audit trail is as it was written',
    replies: { 200: { description: 'The verdict.', content: { json: AuditVerdictReply } } },
    refusals: ['not_allowed'],
    handle: async ({ deps, response, caller }) => {
      requireRole(caller, 'operator');
      const verdict = await deps.stateStore.audit.verify(caller.tenantId);
      response.json(verdict satisfies AuditVerdictReply);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/audit/export',
    id: 'exportAudit',
    summary: 'Export the audit trail as JSON lines, newest first',
    query: AuditExportQuery,
    headers: ['via'],
    replies: {
      200: { description: 'The entries.', content: { lines: 'One JSON object a line.' } },
    },
    refusals: ['not_allowed'],
    handle: async (call) => {
      const { deps, response, query, caller } = call;
      requireRole(caller, 'operator');
      const { audit } = deps.stateStore;
      // An export is recorded before it is answered.
      const act = toAct('export', toActor(call), { tenant: caller.tenantId });
      await audit.record({ ...act, detail: { what: 'audit' } }, {});
      response.type('application/x-ndjson');
      const lines = toLines(audit, caller.tenantId, toFilter(query));
      // A fault ends the connection, not the reply, so that no part is taken for the whole.
      await pipeline(Readable.from(lines), response).catch(() => response.destroy());
    },
  }),
];

/** The entries as JSON lines, read page by page as the reader takes them. */
async function* toLines(
  audit: Pick<Audit, 'page'>,
  tenant: string | undefined,
  filter: Omit<StoredQuery, 'limit'>,
): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const found = await audit.page(tenant, { ...filter, limit: LIMITS.auditPage, cursor });
    for (const entry of found.entries) yield `${JSON.stringify(toReply(entry))}\n`;
    cursor = found.cursor;
  } while (cursor !== undefined);
}

function toFilter({ since, until, action, actor }: AuditExportQuery): Omit<StoredQuery, 'limit'> {
  return { since: toMs(since), until: toMs(until), action, actor };
}

function toMs(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}

function toReply({ n, entry, name }: ChainedEntry): AuditEntryReply {
  const { roles, ...rest } = entry;
  return { n, ...rest, name, roles: roles && [...roles] };
}

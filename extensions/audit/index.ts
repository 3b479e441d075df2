import {
  type About,
  defineRoute,
  inJson,
  type Identity,
  requireRole,
  requireSecondOperator,
  type Route,
  sendLines,
} from '../../api/extension.js';
import {
  AuditExportQuery,
  AuditQuery,
  AuditReply,
  AuditVerdictReply,
  SealedName,
  SealedNamePath,
  type AuditEntryReply,
} from '../../protocol/audit.js';
import type { Extension } from '../../extension.js';
import { HelixError } from '../../protocol/errors.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Audit, AuditQuery as StoredQuery, ChainedEntry } from '../../store/contract/audit.js';

/** Lets operators read, verify and export the audit trail of their tenant. */
export function audit(): Extension {
  return { name: 'audit', routes: AUDIT_ROUTES };
}

const AUDIT_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/operator/audit',
    id: 'listAudit',
    audits: 'read',
    summary:
      'List entries of the audit trail, newest first, or those behind a number, oldest first',
    query: AuditQuery,
    replies: inJson(200, 'A page.', AuditReply),
    refusals: ['not_allowed'],
    about: async ({ caller, query }) => mayReadTrail(caller, query.actor),
    handle: async ({ deps, response, query, caller }) => {
      const { limit, cursor, after } = query;
      const page = { ...toFilter(query), limit, cursor, after };
      const found = await deps.stateStore.audit.page(caller.tenantId, page);
      const asked =
        cursor === undefined && after === undefined
          ? await deps.stateStore.audit.asked(caller.tenantId)
          : undefined;
      response.json({
        ...found,
        entries: found.entries.map(toReply),
        requests: asked?.map(({ personId: _personId, ...request }) => request),
      } satisfies AuditReply);
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/operator/audit/names/:pseudonym',
    id: 'openSealedName',
    audits: 'act',
    summary: 'Open the name of a person who was erased; two operators have to ask within a day',
    params: SealedNamePath,
    replies: inJson(200, 'The name.', SealedName),
    refusals: ['not_allowed', 'not_found', 'second_person_required'],
    entry: 'open',
    about: async (call) => {
      const { deps, caller, params } = call;
      requireRole(caller, 'operator');
      const { pseudonym } = params;
      const name = await deps.stateStore.audit.unseal(caller.tenantId, pseudonym);
      if (name === undefined) throw new HelixError('not_found', 'No name is sealed there.');
      await requireSecondOperator(call, { action: 'open', subject: pseudonym });
      return { pseudonym, name };
    },
    handle: ({ response, about }) => {
      response.json(about satisfies SealedName);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/audit/verify',
    id: 'verifyAudit',
    audits: 'read',
    summary: 'Check that the audit trail is as it was written',
    replies: inJson(200, 'The verdict.', AuditVerdictReply),
    refusals: ['not_allowed'],
    about: async ({ caller }) => mayReadTrail(caller),
    handle: async ({ deps, response, caller }) => {
      const verdict = await deps.stateStore.audit.verify(caller.tenantId);
      response.json(verdict satisfies AuditVerdictReply);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/audit/export',
    id: 'exportAudit',
    audits: 'read',
    summary: 'Export the audit trail as JSON lines, newest first',
    query: AuditExportQuery,
    replies: {
      200: { description: 'The entries.', content: { lines: 'One JSON object a line.' } },
    },
    refusals: ['not_allowed'],
    entry: 'export',
    about: async ({ caller, query }) => mayReadTrail(caller, query.actor),
    handle: async ({ deps, response, query, caller }) => {
      await sendLines(response, toLines(deps.stateStore.audit, caller.tenantId, toFilter(query)));
    },
  }),
];

/** Reads of one's own entries are recorded too: the others may know who has looked. */
function mayReadTrail(caller: Identity, actor?: string): About {
  requireRole(caller, 'operator');
  return { person: actor };
}

/** Yields the entries as JSON lines, page by page as the reader takes them. */
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

function toReply({ n, entry, name, isSealed }: ChainedEntry): AuditEntryReply {
  const { roles, ...rest } = entry;
  return { n, ...rest, name, isSealed, roles: roles && [...roles] };
}

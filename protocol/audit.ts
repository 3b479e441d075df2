import { z } from 'zod';
import { CHANNELS, ROLES } from './actor.js';
import { LIMITS } from './limits.js';

/** Requests and replies of the audit trail, for operators of a tenant. Times in replies are ms since the epoch. */

const ms = z.number();

export const AUDIT_ACTIONS = [
  'approve',
  'deny',
  'result',
  'error',
  'expire',
  'extend',
  'stop',
  'resume',
  'retry',
  'branch',
  'erase',
  'erased',
  'read',
  'export',
  'forget',
  'pause',
  'unpause',
  'schedule',
  'notify',
  'edit',
  'open',
] as const;

const AuditFilter = z.object({
  /** Entries of this time or later; ISO 8601. */
  since: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
  action: z.enum(AUDIT_ACTIONS).optional(),
  /** The person, by name. */
  actor: z.string().min(1).max(LIMITS.idChars).optional(),
});

/** `GET /api/operator/audit`: newest first, or the entries behind `after`, oldest first. */
export const AuditQuery = AuditFilter.extend({
  limit: z.coerce.number().int().min(1).max(LIMITS.auditPage).default(50),
  cursor: z.string().min(1).max(LIMITS.idChars).optional(),
  /** Number of the newest entry that the client has, so that a polling client misses none. */
  after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
});

/** `GET /api/operator/audit/export`: all entries that match, newest first, one JSON object a line. */
export const AuditExportQuery = AuditFilter;
export type AuditExportQuery = z.infer<typeof AuditExportQuery>;

export const AuditEntryReply = z
  .object({
    n: z.number(),
    id: z.string(),
    at: ms,
    /** Pseudonym of the person; `rule` if there was none. */
    actor: z.string(),
    /** The person's name; absent once the person was erased. */
    name: z.string().optional(),
    /** True if the person was erased, but two operators together can open the name. */
    isSealed: z.literal(true).optional(),
    roles: z.array(z.enum(ROLES)).optional(),
    via: z.enum(CHANNELS),
    tenant: z.string().optional(),
    action: z.enum(AUDIT_ACTIONS),
    target: z.object({
      sessionId: z.string().optional(),
      runId: z.string().optional(),
      toolCallId: z.string().optional(),
      toolName: z.string().optional(),
      person: z.string().optional(),
    }),
    outcome: z.string(),
    /** SHA-256 of the JSON of the input or result, and of the reason, as base64url. */
    inputHash: z.string().optional(),
    reasonHash: z.string().optional(),
    detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntryReply = z.infer<typeof AuditEntryReply>;

export const AuditReply = z.object({
  entries: z.array(AuditEntryReply),
  cursor: z.string().optional(),
  /** Next value of `after`, if the request had one. */
  after: z.number().optional(),
  /** Open requests that need a second operator; only on the first page. */
  requests: z
    .array(
      z.object({
        /** `forget` erases a person, `open` opens a sealed name. */
        action: z.enum(['forget', 'open']),
        subject: z.string(),
        by: z.string(),
        until: ms,
      }),
    )
    .optional(),
});
export type AuditReply = z.infer<typeof AuditReply>;

/** `POST /api/operator/audit/names/:pseudonym`. */
export const SealedNamePath = z.object({ pseudonym: z.string().min(1).max(LIMITS.idChars) });

export const SealedName = z.object({ pseudonym: z.string(), name: z.string() });
export type SealedName = z.infer<typeof SealedName>;

/** Body of `GET /api/operator/audit/verify`. */
export const AuditVerdictReply = z
  .object({
    ok: z.boolean(),
    entries: z.number(),
    signed: z.number(),
    /** Number of the oldest entry; more than 1 once old entries were dropped. */
    first: z.number(),
    head: z.string(),
    fault: z
      .object({
        n: z.number(),
        reason: z.enum(['missing', 'changed', 'malformed', 'signature', 'unsigned', 'unexpected']),
      })
      .optional(),
  })
  .meta({ id: 'AuditVerdict' });
export type AuditVerdictReply = z.infer<typeof AuditVerdictReply>;

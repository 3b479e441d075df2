import { z } from 'zod';
import { ROLES } from '../../protocol/actor.js';
import { NOTICE_TYPES, type NoticeType } from '../../protocol/notices.js';

/** Receivers of one installation. */
export const MOST_RECEIVERS = 50;

/** What people want to hear of, where a receiver says nothing. */
const FOR_PEOPLE: readonly NoticeType[] = [
  'approval.requested',
  'approval.reminder',
  'approval.escalated',
  'approval.expired',
  'run.failed',
  'spend.exceeded',
  'delivery.failed',
];

const secret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, 'must be whsec_ and 24 bytes or more as base64');

const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an address that begins with http' })
  .refine((value) => !/^[^/]*\/\/[^/]*@/.test(value), 'must have no user or password');

const common = {
  /** Shown to operators; part of the ids of its deliveries. */
  name: z.string().regex(/^[a-z0-9-]{1,40}$/, 'must be 1 to 40 of a-z, 0-9 and -'),
  /** Default: of a webhook all, else what waits, what has expired, and runs that failed. */
  events: z.array(z.enum(NOTICE_TYPES)).min(1).optional(),
  /** Only what happens in conversations of this tenant; null: of none. Default: everything. */
  tenant: z.string().min(1).nullable().optional(),
  /** Gets nothing but what was escalated, settled or expired. Default: false. */
  escalation: z.boolean().default(false),
  /**
   * The one person who reads it, of the receiver's tenant: links that decide carry this name, and are in notices of
   * that tenant's conversations only. Without a tenant a person has none. Default: no such links.
   */
  approver: z
    .strictObject({
      userId: z.string().min(1).max(256),
      /** As in the claim `JWT_PERSON_CLAIM` of the person's tokens. */
      person: z.string().min(1).max(256).optional(),
      roles: z.array(z.enum(ROLES)).default(['approver']),
    })
    .optional(),
};

const Receiver = z.discriminatedUnion('kind', [
  z.strictObject({
    ...common,
    kind: z.literal('webhook'),
    url: httpUrl,
    /** The newest first; each signs, so that a secret can be replaced. */
    secrets: z.array(secret).min(1).max(3),
    /** Its address may be one of a private network. Default: false. */
    privateNetwork: z.boolean().default(false),
  }),
  z.strictObject({
    ...common,
    kind: z.literal('slack'),
    /** Of an incoming webhook. */
    url: httpUrl,
    privateNetwork: z.boolean().default(false),
  }),
  z.strictObject({ ...common, kind: z.literal('mail'), to: z.email() }),
]);
/** Who is notified, and how. */
export type Receiver = z.infer<typeof Receiver>;
export type ReceiverInput = z.input<typeof Receiver>;

/** The receivers of an installation; their names are unique. */
export const Receivers = z
  .array(Receiver)
  .max(MOST_RECEIVERS)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, {
    error: 'two receivers have the same name',
  });

const ESCALATED = /\.(escalated|settled|expired)$/;

/** The person whom links of this receiver name in a conversation of this tenant. Pure. */
export function approverIn(
  { approver, tenant: own }: Pick<Receiver, 'approver' | 'tenant'>,
  tenant: string | undefined,
): Receiver['approver'] {
  // Elsewhere another person may have the name.
  return (own ?? undefined) === tenant ? approver : undefined;
}

/** True for a receiver that a notice of this type, in this tenant, is for. Pure. */
export function wants(
  receiver: Pick<Receiver, 'kind' | 'events' | 'tenant' | 'escalation'>,
  type: NoticeType,
  tenant: string | undefined,
): boolean {
  if (type === 'test') return true;
  if (receiver.tenant !== undefined && receiver.tenant !== (tenant ?? null)) return false;
  // The next receivers hear what the first ones did not answer; the first ones heard it before.
  if (receiver.escalation ? !ESCALATED.test(type) : type.endsWith('.escalated')) return false;
  if (receiver.events !== undefined) return receiver.events.includes(type);
  return receiver.kind === 'webhook' || FOR_PEOPLE.includes(type);
}

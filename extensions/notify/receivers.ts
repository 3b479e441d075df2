import { z } from 'zod';
import { ROLES } from '../../protocol/actor.js';
import { NOTICE_TYPES, type NoticeType } from '../../protocol/notices.js';

/** Receivers of one installation. */
export const MOST_RECEIVERS = 50;

/** Default events of receivers that people read. */
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
  /** Name shown to operators; part of the ids of deliveries. */
  name: z.string().regex(/^[a-z0-9-]{1,40}$/, 'must be 1 to 40 of a-z, 0-9 and -'),
  /** Default: all events for a webhook; else waiting and expired questions, and failed runs. */
  events: z.array(z.enum(NOTICE_TYPES)).min(1).optional(),
  /** Only events of this tenant; null means conversations without a tenant. Default: all events. */
  tenant: z.string().min(1).nullable().optional(),
  /** True for a receiver of escalated questions and their outcomes only. Default: false. */
  escalation: z.boolean().default(false),
  /**
   * The one person who reads this receiver. Links that decide act as this person, and only notices about the
   * receiver's tenant carry them. Default: no such links.
   */
  approver: z
    .strictObject({
      userId: z.string().min(1).max(256),
      /** Same value as the claim `JWT_PERSON_CLAIM` of the person's tokens. */
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
    /** Secrets, the newest first. Each one signs, so that a secret can be replaced. */
    secrets: z.array(secret).min(1).max(3),
    /** True if the address may be in a private network. Default: false. */
    privateNetwork: z.boolean().default(false),
  }),
  z.strictObject({
    ...common,
    kind: z.literal('slack'),
    /** Address of an incoming webhook. */
    url: httpUrl,
    privateNetwork: z.boolean().default(false),
  }),
  z.strictObject({ ...common, kind: z.literal('mail'), to: z.email() }),
]);
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

/** Returns the person as whom this receiver's links decide in a conversation of this tenant. Pure. */
export function approverIn(
  { approver, tenant: own }: Pick<Receiver, 'approver' | 'tenant'>,
  tenant: string | undefined,
): Receiver['approver'] {
  // In another tenant the same user id may be another person.
  return (own ?? undefined) === tenant ? approver : undefined;
}

/** Returns true if the receiver takes notices of this type in this tenant. Pure. */
export function wants(
  receiver: Pick<Receiver, 'kind' | 'events' | 'tenant' | 'escalation'>,
  type: NoticeType,
  tenant: string | undefined,
): boolean {
  if (type === 'test') return true;
  if (receiver.tenant !== undefined && receiver.tenant !== (tenant ?? null)) return false;
  // Escalations go only to escalation receivers; the others were notified before.
  if (receiver.escalation ? !ESCALATED.test(type) : type.endsWith('.escalated')) return false;
  if (receiver.events !== undefined) return receiver.events.includes(type);
  return receiver.kind === 'webhook' || FOR_PEOPLE.includes(type);
}

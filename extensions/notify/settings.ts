import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError, type Config } from '../../config/env.js';
import { ROLES, type Role } from '../../protocol/actor.js';
import { NOTICE_TYPES, type NoticeType } from '../../protocol/notices.js';
import type { RunNotices } from '../../protocol/run.js';

/** Receivers of one installation. */
const MAX_RECEIVERS = 50;

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
const Receivers = z
  .array(Receiver)
  .max(MAX_RECEIVERS)
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

/** Returns true if the receiver is one of this tenant. Pure. */
export function isForTenant(
  receiver: Pick<Receiver, 'tenant'>,
  tenant: string | undefined,
): boolean {
  return receiver.tenant === undefined || receiver.tenant === (tenant ?? null);
}

/** Returns true if the receiver takes notices of this type in this tenant. Pure. */
export function wants(
  receiver: Pick<Receiver, 'kind' | 'events' | 'tenant' | 'escalation'>,
  type: NoticeType,
  tenant: string | undefined,
): boolean {
  if (!isForTenant(receiver, tenant)) return false;
  // Escalations go only to escalation receivers; the others were notified before.
  if (receiver.escalation ? !ESCALATED.test(type) : type.endsWith('.escalated')) return false;
  if (receiver.events !== undefined) return receiver.events.includes(type);
  return receiver.kind === 'webhook' || FOR_PEOPLE.includes(type);
}

const HOUR_MS = 3_600_000;

/** Options of notices: receivers, contents and times. */
export interface NotifyOptions {
  receivers: readonly ReceiverInput[];
  /** Reminders, ms after the question. Default: after an hour and after a day. */
  remindAfterMs?: readonly number[] | undefined;
  /** Delay until receivers with `escalation` are notified, ms after the question. Default: 4 hours. */
  escalateAfterMs?: number | undefined;
  /** Time for which a delivery is retried, ms. Default: 3 days. */
  retryForMs?: number | undefined;
  /** Attempts per hour to a channel or mailbox for one user; further notices are joined. Default: 60. */
  perHour?: number | undefined;
  /** True to show the input of calls. Default: false, notices have ids and names only. */
  includeInput?: boolean | undefined;
  /** Public address of the page, for links. Links that decide need the API at the same address. */
  publicUrl?: string | undefined;
  /** Keys that sign links that decide, the newest first, at least 32 characters each. Default: no such links. */
  linkKeys?: readonly string[] | undefined;
  /**
   * Called when such a link is opened and when it decides, because the link has the person's roles of the day
   * on which it was sent. Default: the link's roles count.
   */
  mayStillDecide?: MayStillDecide | undefined;
  /** SMTP server (`smtp://user:password@host:port`) and sender, for receivers of kind `mail`. */
  mail?: { url: string; from: string } | undefined;
}

/** Returns true if the person still has the rights that the link gives. */
export type MayStillDecide = (person: {
  userId: string;
  tenantId?: string;
  roles: readonly Role[];
}) => boolean | Promise<boolean>;

type OfNoDefault = 'publicUrl' | 'mayStillDecide' | 'mail';
/** Validated options with defaults. */
export interface NotifySettings
  extends
    Required<Omit<NotifyOptions, 'receivers' | OfNoDefault>>,
    Pick<NotifyOptions, OfNoDefault> {
  receivers: readonly Receiver[];
}

/**
 * @throws Error in one sentence for a receiver that is malformed, or that needs another setting
 */
export function toNotifySettings(options: NotifyOptions): NotifySettings {
  const parsed = Receivers.safeParse(options.receivers);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`Receiver ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
  }
  const receivers = parsed.data;
  const { mail, mayStillDecide, linkKeys = [], publicUrl } = options;
  if (mail === undefined && receivers.some(({ kind }) => kind === 'mail')) {
    throw new Error('Receivers of mail need an SMTP server and a sender.');
  }
  if (linkKeys.some((key) => key.length < 32)) {
    throw new Error('Keys of links need 32 characters or more.');
  }
  if (linkKeys.length > 0 && publicUrl === undefined) {
    throw new Error('Links need the public address of the page.');
  }
  return {
    receivers,
    remindAfterMs: options.remindAfterMs ?? [HOUR_MS, 24 * HOUR_MS],
    escalateAfterMs: options.escalateAfterMs ?? 4 * HOUR_MS,
    retryForMs: options.retryForMs ?? 72 * HOUR_MS,
    perHour: options.perHour ?? 60,
    includeInput: options.includeInput ?? false,
    publicUrl,
    linkKeys,
    mayStillDecide,
    mail,
  };
}

/** Kinds of calls, and the beginnings of their notices' types. */
export const PREFIX = { approval: 'approval', client: 'tool' } as const;

export const END_TYPES = {
  completed: 'run.completed',
  failed: 'run.failed',
  interrupted: 'run.stopped',
  aborted: 'run.stopped',
} as const;

/** Returns the events for which workflows start notices; undefined if no receiver wants any. Pure. */
export function toRunNotices({ receivers }: NotifySettings): RunNotices | undefined {
  const wanted = NOTICE_TYPES.filter((type) =>
    receivers.some((each) => wants(each, type, each.tenant ?? undefined)),
  );
  const calls = (['approval', 'client'] as const).filter((kind) =>
    wanted.some((type) => type.startsWith(`${PREFIX[kind]}.`)),
  );
  const ends = (['completed', 'failed', 'interrupted', 'aborted'] as const).filter((status) =>
    wanted.includes(END_TYPES[status]),
  );
  return calls.length === 0 && ends.length === 0 ? undefined : { calls, ends };
}

/** Undefined without receivers. @throws ConfigError if their list cannot be read */
export function readNotify(config: Config): NotifyOptions | undefined {
  const { NOTIFY_RECEIVERS: setting, SMTP_URL: url, MAIL_FROM: from } = config;
  const { JWT_SECRET, JWT_PUBLIC_KEY, JWT_JWKS_URL } = config;
  if (setting === undefined) return undefined;
  if (JWT_SECRET !== undefined && config.NOTIFY_LINK_KEY?.includes(JWT_SECRET)) {
    throw new ConfigError('Bad configuration: NOTIFY_LINK_KEY and JWT_SECRET must differ');
  }
  const receivers = readList(setting) as ReceiverInput[];
  const hasAccounts = (JWT_SECRET ?? JWT_PUBLIC_KEY ?? JWT_JWKS_URL) !== undefined;
  if (hasAccounts) receivers.forEach(checkApprover);
  return {
    receivers,
    remindAfterMs: config.NOTIFY_REMIND_AFTER,
    escalateAfterMs: config.NOTIFY_ESCALATE_AFTER,
    retryForMs: config.NOTIFY_RETRY_FOR,
    perHour: config.NOTIFY_PER_HOUR,
    includeInput: config.NOTIFY_INCLUDE_INPUT,
    publicUrl: config.PUBLIC_URL,
    linkKeys: config.NOTIFY_LINK_KEY,
    mail: url === undefined || from === undefined ? undefined : { url, from },
  };
}

/** Tokens may have tenants: the same name is another person there. @throws ConfigError */
function checkApprover(receiver: Partial<ReceiverInput> | null): void {
  if (receiver?.approver === undefined || receiver.tenant !== undefined) return;
  throw new ConfigError(
    `Bad configuration: NOTIFY_RECEIVERS: the receiver ${JSON.stringify(receiver.name)} has an approver and needs that person's "tenant", or null for people without one`,
  );
}

/** The message shows nothing of the list, which holds secrets. */
function readList(setting: string): unknown[] {
  try {
    const text = setting.startsWith('@') ? readFileSync(setting.slice(1), 'utf8') : setting;
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list)) return list;
  } catch {
    // The reason may quote a secret.
  }
  throw new ConfigError(
    'Bad configuration: NOTIFY_RECEIVERS must be a JSON list, or @ and the path of a file with one',
  );
}

import { readFileSync } from 'node:fs';
import { ConfigError, type Config } from '../../config/env.js';
import type { Role } from '../../protocol/actor.js';
import type { RunNotices } from '../../protocol/run.js';
import type { NoticeType } from '../../protocol/notices.js';
import { Receivers, wants, type Receiver, type ReceiverInput } from './receivers.js';

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

/** Validated options with defaults. */
export interface NotifySettings {
  receivers: readonly Receiver[];
  remindAfterMs: readonly number[];
  escalateAfterMs: number;
  retryForMs: number;
  perHour: number;
  includeInput: boolean;
  publicUrl: string | undefined;
  linkKeys: readonly string[];
  mayStillDecide: MayStillDecide | undefined;
  mail: NotifyOptions['mail'];
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
  const { mail, linkKeys = [], publicUrl } = options;
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
    mayStillDecide: options.mayStillDecide,
    mail,
  };
}

/** Returns the events for which workflows start notices; undefined if no receiver wants any. Pure. */
export function toRunNotices({ receivers }: NotifySettings): RunNotices | undefined {
  const isWanted = (...types: NoticeType[]): boolean =>
    types.some((type) => receivers.some((each) => wants(each, type, each.tenant ?? undefined)));
  const stages = ['requested', 'reminder', 'escalated', 'settled', 'expired'] as const;
  const calls = (['approval', 'client'] as const).filter((kind) => {
    const prefix = kind === 'approval' ? 'approval' : 'tool';
    return isWanted(...stages.map((stage) => `${prefix}.${stage}` as const));
  });
  const ends = [
    ...(isWanted('run.completed') ? (['completed'] as const) : []),
    ...(isWanted('run.failed') ? (['failed'] as const) : []),
    ...(isWanted('run.stopped') ? (['interrupted', 'aborted'] as const) : []),
  ];
  return calls.length === 0 && ends.length === 0 ? undefined : { calls, ends };
}

/** Undefined without receivers. @throws ConfigError if their list cannot be read */
export function readNotify(config: Config): NotifyOptions | undefined {
  const { NOTIFY_RECEIVERS: setting, SMTP_URL: url, MAIL_FROM: from } = config;
  if (setting === undefined) return undefined;
  if (config.JWT_SECRET !== undefined && config.NOTIFY_LINK_KEY?.includes(config.JWT_SECRET)) {
    throw new ConfigError('Bad configuration: NOTIFY_LINK_KEY and JWT_SECRET must differ');
  }
  const receivers = readList(setting) as ReceiverInput[];
  if (hasAccounts(config)) receivers.forEach(checkApprover);
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

function hasAccounts({ JWT_SECRET, JWT_PUBLIC_KEY, JWT_JWKS_URL }: Config): boolean {
  return (JWT_SECRET ?? JWT_PUBLIC_KEY ?? JWT_JWKS_URL) !== undefined;
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

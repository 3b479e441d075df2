import { readFileSync } from 'node:fs';
import { ConfigError, type Config } from './env.js';

/** The settings of notices as options; the list itself is checked by who takes them. */
export interface NotifySetting {
  receivers: never[];
  remindAfterMs: number[] | undefined;
  escalateAfterMs: number | undefined;
  retryForMs: number | undefined;
  perHour: number | undefined;
  includeInput: boolean;
  publicUrl: string | undefined;
  linkKeys: string[] | undefined;
  mail: { url: string; from: string } | undefined;
}

/** Undefined without receivers. @throws ConfigError if their list cannot be read */
export function readNotify(config: Config): NotifySetting | undefined {
  const { NOTIFY_RECEIVERS: setting, SMTP_URL: url, MAIL_FROM: from } = config;
  if (setting === undefined) return undefined;
  if (config.JWT_SECRET !== undefined && config.NOTIFY_LINK_KEY?.includes(config.JWT_SECRET)) {
    throw new ConfigError('Bad configuration: NOTIFY_LINK_KEY and JWT_SECRET must differ');
  }
  const receivers = readList(setting) as never[];
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
function checkApprover(
  receiver: { name?: unknown; approver?: unknown; tenant?: unknown } | null,
): void {
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

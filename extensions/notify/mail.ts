import { orMissing } from '../../protocol/errors.js';
import { toFacts, toHeadline, toItemText, toPlace, type Message } from './message.js';
import { NotDelivered } from './post.js';
import type { NotifySettings } from './settings.js';

const STEP_MS = 15_000;

/** Sends mail. The owner must close it. */
export interface Mailer {
  /** @throws NotDelivered */
  send: (to: string, message: Message) => Promise<void>;
  close: () => void;
}

/** @throws MissingPackageError */
export async function createMailer({
  url,
  from,
}: NonNullable<NotifySettings['mail']>): Promise<Mailer> {
  const { createTransport } = await import('nodemailer').catch(
    orMissing('A receiver of mail', 'nodemailer@10'),
  );
  const transport = createTransport({
    // nodemailer would take an address that it cannot parse for one of this machine.
    url: new URL(url).href,
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: STEP_MS,
    // The mailer must not read files or addresses that a message names.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async (to, message) => {
      const mail = {
        from,
        to,
        subject: toHeadline(message),
        text: toMailText(message),
        messageId: `<${message.notice.id}@helix-temporal>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      };
      await transport.sendMail(mail).catch((cause: unknown) => {
        throw toNotDelivered(cause);
      });
    },
    close: () => transport.close(),
  };
}

/** Codes of `nodemailer` for replies about the message or its addresses, not about connection or login. */
const ABOUT_MESSAGE: readonly unknown[] = ['EENVELOPE', 'EMESSAGE'];

/**
 * A reply of 500 and above about the message is final. After any other refusal, for example of a changed
 * password, a later attempt may succeed.
 */
function toNotDelivered(cause: unknown): NotDelivered {
  const { code, responseCode: status } = cause as { code?: unknown; responseCode?: unknown };
  if (typeof status !== 'number') {
    return new NotDelivered('smtp', 'The mail server did not take the message.', { cause });
  }
  const text = `The mail server answered ${String(status)}.`;
  return new NotDelivered(`smtp_${String(status)}`, text, {
    isFinal: status >= 500 && ABOUT_MESSAGE.includes(code),
    cause,
  });
}

/** Writes a message as plain text without markup. Pure. */
export function toMailText(message: Message): string {
  const { notice, url, decideUrl, items = [] } = message;
  return [
    toHeadline(message),
    '',
    ...toFacts(message).map(([name, value]) => `${name}: ${value}`),
    ...items.flatMap((item) => [
      '',
      toItemText(item),
      ...(item.decideUrl === undefined ? [] : [`Decide: ${item.decideUrl}`]),
    ]),
    ...(decideUrl === undefined ? [] : ['', `Decide: ${decideUrl}`]),
    ...(url === undefined ? [] : ['', `${toPlace(notice).title}: ${url}`]),
    '',
  ].join('\n');
}

import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { guardedLookup, isPermittedUrl } from '../../agents/guarded-lookup.js';
import type { Config } from '../../config/env.js';
import {
  readNotify,
  toNotifySettings,
  type NotifySettings,
} from '../../extensions/notify/settings.js';
import { toReason } from '../../protocol/errors.js';
import { verdictsOn, type Verdict } from './verdict.js';

const CONNECT_MS = 5_000;
const SMTP_PORTS: Record<string, number> = { 'smtp:': 587, 'smtps:': 465 };

/**
 * Opens a connection to each receiver's host, as deliveries do, and sends nothing. Conversations do not depend on
 * receivers, so one that cannot be reached is only warned of.
 */
export async function checkReceivers(config: Config): Promise<Verdict[]> {
  let settings: NotifySettings;
  try {
    const given = readNotify(config);
    if (given === undefined) return [];
    settings = toNotifySettings(given);
  } catch (error) {
    const fix = 'Correct NOTIFY_RECEIVERS; docs/notifications.md has it.';
    return [verdictsOn('receivers').fail(`${toReason(error)}.`, fix)];
  }
  const { receivers, mail } = settings;
  return Promise.all(receivers.map((receiver) => check(receiver, mail)));
}

async function check(
  receiver: NotifySettings['receivers'][number],
  mail: NotifySettings['mail'],
): Promise<Verdict> {
  const verdict = verdictsOn('receivers');
  const { name } = receiver;
  const isMail = receiver.kind === 'mail';
  const url = new URL(isMail ? (mail?.url ?? '') : receiver.url);
  try {
    // A private mail server may have any address.
    await open(url, isMail || receiver.privateNetwork);
    return verdict.ok(`${name}: ${url.host} can be reached.`);
  } catch (error) {
    return verdict.warn(
      `${name}: ${url.host} cannot be reached: ${toReason(error).replace(/\.$/, '')}.`,
      `Open the way from the workers to it; then helix-temporal webhook test ${name}.`,
    );
  }
}

async function open(url: URL, isPrivate: boolean): Promise<void> {
  const isSecure = url.protocol === 'https:' || url.protocol === 'smtps:';
  const port = Number(url.port) || (SMTP_PORTS[url.protocol] ?? (isSecure ? 443 : 80));
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const rule = { isNamed: isPrivate, isPrivate };
  const refused = (): Error =>
    new Error('its address is of a private network, which its settings do not permit');
  if (!isPermittedUrl(url, rule)) throw refused();
  const lookup = guardedLookup(rule, refused);
  await new Promise<void>((resolve, reject) => {
    const socket: Socket = isSecure
      ? connectTls({ host, port, lookup, ...(isIP(host) === 0 && { servername: host }) })
      : connect({ host, port, lookup });
    const end = (error?: Error): void => {
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    socket.once(isSecure ? 'secureConnect' : 'connect', () => end());
    socket.once('error', end);
    socket.setTimeout(CONNECT_MS, () => end(new Error('it did not answer in time')));
  });
}

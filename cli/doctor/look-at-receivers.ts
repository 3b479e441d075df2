import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { guardedLookup, isPermitted } from '../../agents/guarded-lookup.js';
import type { Config } from '../../config/env.js';
import {
  readNotify,
  toNotifySettings,
  type NotifySettings,
} from '../../extensions/notify/settings.js';

/** Result of a connection to a receiver's host; `fault` is set if it failed. */
export interface ReceiverLook {
  name: string;
  host: string;
  fault?: string;
}

const CONNECT_MS = 5_000;
const SMTP_PORTS: Record<string, number> = { 'smtp:': 587, 'smtps:': 465 };

/**
 * Opens a connection to each receiver's host, as deliveries do, and sends nothing.
 *
 * @throws Error in one sentence if the list of receivers is invalid
 */
export async function lookAtReceivers(config: Config): Promise<ReceiverLook[]> {
  const given = readNotify(config);
  if (given === undefined) return [];
  const { receivers, mail } = toNotifySettings(given);
  return Promise.all(receivers.map((receiver) => lookAt(receiver, mail)));
}

async function lookAt(
  receiver: NotifySettings['receivers'][number],
  mail: NotifySettings['mail'],
): Promise<ReceiverLook> {
  const isMail = receiver.kind === 'mail';
  const url = new URL(isMail ? (mail?.url ?? '') : receiver.url);
  // A private mail server may have any address.
  const isPrivate = isMail || receiver.privateNetwork;
  const look = { name: receiver.name, host: url.host };
  try {
    await open(url, isPrivate);
    return look;
  } catch (error) {
    return { ...look, fault: error instanceof Error ? error.message : String(error) };
  }
}

/** @throws Error */
async function open(url: URL, isPrivate: boolean): Promise<void> {
  const isSecure = url.protocol === 'https:' || url.protocol === 'smtps:';
  const port = Number(url.port) || (SMTP_PORTS[url.protocol] ?? (isSecure ? 443 : 80));
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const rule = { isNamed: isPrivate, isPrivate };
  const refused = (): Error =>
    new Error('its address is of a private network, which its settings do not permit');
  if (isIP(host) !== 0 && !isPermitted(host, host, rule)) throw refused();
  const lookup = guardedLookup(rule, refused) as never;
  await new Promise<void>((resolve, reject) => {
    const socket: Socket = isSecure
      ? connectTls({ host, port, lookup, ...(isIP(host) === 0 && { servername: host }) })
      : connect({ host, port, lookup });
    const end = (error?: Error): void => {
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      end();
    });
    socket.once('error', end);
    socket.setTimeout(CONNECT_MS, () => {
      end(new Error('it did not answer in time'));
    });
  });
}

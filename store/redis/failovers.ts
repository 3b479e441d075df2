import { Redis } from 'ioredis';
import { startPulse } from './pulse.js';

/** Sentinels publish here that a server has another master. */
const SWITCHED = '+switch-master';

/**
 * Takes a client that Sentinels lead to its server to the new master once they name one. They demote a master that
 * still runs only ten seconds later, and what it accepts until then is lost.
 */
export function followFailovers(client: Redis): void {
  const { sentinels, name = '' } = client.options;
  if (!sentinels) return;
  let isAwaited = false;
  let announced = '';

  function leave(): void {
    if (client.status === 'ready') {
      const { remoteAddress = '', remotePort } = client.stream;
      // All Sentinels announce a switch, and a reconnection refuses commands for a moment.
      if (!announced.endsWith(` ${remoteAddress} ${String(remotePort)}`)) client.disconnect(true);
    } else if (!isAwaited) {
      // It may be on its way to the old master.
      isAwaited = true;
      client.once('ready', () => {
        isAwaited = false;
        leave();
      });
    }
  }

  client.once('ready', () => {
    const watchers = sentinels.map((at) =>
      watch(client, at, (text) => {
        if (!text.startsWith(`${name} `)) return;
        announced = text;
        leave();
      }),
    );
    client.once('end', () => {
      for (const watcher of watchers) watcher.disconnect();
    });
  });
}

/** Reads what one Sentinel says of its masters. */
function watch(
  { options }: Redis,
  sentinel: { host?: string | undefined; port?: number | undefined },
  hear: (text: string) => void,
): Redis {
  const { sentinelUsername, sentinelPassword, sentinelTLS } = options;
  const { retryStrategy, connectTimeout, socketTimeout } = options;
  const watcher = new Redis({
    ...sentinel,
    ...(sentinelUsername != null && { username: sentinelUsername }),
    ...(sentinelPassword != null && { password: sentinelPassword }),
    ...(sentinelTLS && { tls: sentinelTLS }),
    retryStrategy,
    connectTimeout,
    socketTimeout,
    autoResubscribe: false,
  });
  watcher.on('error', () => undefined);
  watcher.on('ready', () => {
    watcher.subscribe(SWITCHED).catch(() => undefined);
  });
  watcher.on('message', (_channel, text) => {
    hear(text);
  });
  startPulse(watcher);
  return watcher;
}

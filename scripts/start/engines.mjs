// Provides the two engines: started here, or reached at a configured address.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { findRedis, isRedisReady, redisArguments } from '../engines/redis.mjs';
import { isTemporalReady, temporalArguments } from '../engines/temporal-server.mjs';
import { findTemporal } from '../engines/temporal.mjs';
import { claimPort, anyFreePort } from '../system/ports.mjs';
import { createUiProxy } from '../temporal-ui/proxy.mjs';
import { startEngine } from './engine.mjs';
import { requireRedis, requireTemporal } from './reachable.mjs';

const PORTS = { temporal: 7233, redis: 6379 };

/** Look-ups draw progress lines, so they run one by one; the engines then start together. */
export async function findPrograms(settings) {
  return {
    temporal: settings.temporalAddress ? undefined : await findTemporal(),
    redis: settings.redisUrl ? undefined : await findRedis(),
  };
}

/** Returns Temporal's address; starts it if none was given. */
export async function provideTemporal(settings, file, context) {
  const { dataDir, namespace = 'default', temporalAddress } = settings;
  if (temporalAddress) {
    await requireTemporal(temporalAddress);
    return { temporalAddress };
  }
  const port = await claimPort(PORTS.temporal);
  const ui = await placeUi(settings.temporalUi);
  const databaseFile = join(dataDir, 'temporal.db');
  const args = temporalArguments({ port, ui, databaseFile, namespace });
  const isReady = () => isTemporalReady({ port, namespace });
  await startEngine({ name: 'Temporal', file, args, dataDir, isReady }, context);
  const temporalUiUrl = ui && (await openUiProxy(ui, settings, context.fleet));
  return { temporalAddress: `127.0.0.1:${port}`, temporalUiUrl, isTemporalOwn: true };
}

/** Returns Redis's address; starts it if none was given. */
export async function provideRedis(settings, file, context) {
  const { dataDir, redisUrl } = settings;
  if (redisUrl) {
    await requireRedis(redisUrl);
    return { redisUrl };
  }
  const folder = join(dataDir, 'redis');
  const port = await claimPort(PORTS.redis);
  const args = redisArguments({ port, folder });
  const isReady = () => isRedisReady({ port });
  await startEngine({ name: 'Redis', file, args, dataDir, isReady }, context);
  return { redisUrl: `redis://127.0.0.1:${port}` };
}

// Any client that reaches the dev server's UI acts as an operator without a login. The UI accepts any Host,
// so a web page that knew its address could act by DNS rebinding. It therefore listens on an unguessable
// address behind our proxy.

const PREFERRED_PORT = 8233;

/**
 * Returns the UI's own address; undefined for no UI. On a system with only 127.0.0.1, pages could find the
 * port by trying them all, so the UI opens there only if the user's setting `wanted` is true.
 */
export async function placeUi(wanted, { ownAddress = ownLoopbackAddress } = {}) {
  if (wanted === false) return undefined;
  const host = (await ownAddress()) ?? (wanted ? '127.0.0.1' : undefined);
  return host && { host, port: await anyFreePort(host) };
}

/**
 * Returns a random loopback address of 24 bits, which cannot be guessed; undefined if the system has only
 * 127.0.0.1 (macOS).
 */
async function ownLoopbackAddress({ canListen = listens } = {}) {
  const address = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
  return (await canListen(address)) ? address : undefined;
}

async function listens(address) {
  return anyFreePort(address).then(
    () => true,
    () => false,
  );
}

/** Opens the proxy before the UI at `upstream`; it closes with the fleet. Returns its address. */
async function openUiProxy(upstream, { temporalUiUrl }, fleet) {
  const names = temporalUiUrl ? [new URL(temporalUiUrl).hostname] : [];
  const server = createUiProxy({ upstream, names });
  const port = await claimPort(PREFERRED_PORT);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  fleet.add({ stop: close, kill: close });
  return `http://127.0.0.1:${port}`;
}

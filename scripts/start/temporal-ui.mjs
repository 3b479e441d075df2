// The Temporal UI of the dev server: any client that reaches it acts as an operator, without a login. It
// serves any Host, so a web page that knew its address could act through it by DNS rebinding. It
// therefore listens on an address that cannot be guessed, and people reach it through our proxy.
import { once } from 'node:events';
import { anyFreePort, claimPort } from '../system/ports.mjs';
import { ownLoopbackAddress } from '../system/loopback.mjs';
import { createUiProxy } from '../temporal-ui/proxy.mjs';

const PREFERRED_PORT = 8233;

/**
 * Where the UI itself is to listen; undefined without one. `wanted` is the user's
 * setting: on a system that has only 127.0.0.1 pages could find the UI's port by trying them all, so
 * the UI opens there only if `wanted` is true.
 */
export async function placeUi(wanted, { ownAddress = ownLoopbackAddress } = {}) {
  if (wanted === false) return undefined;
  const host = (await ownAddress()) ?? (wanted ? '127.0.0.1' : undefined);
  return host && { host, port: await anyFreePort(host) };
}

/** Opens the proxy before the UI at `upstream`; it ends with the fleet. Returns its address. */
export async function openUiProxy(upstream, { temporalUiUrl }, fleet) {
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

// Runs the proxy as a process, for containers: TEMPORAL_UI_UPSTREAM is the UI's host:port.
import { createUiProxy } from './proxy.mjs';

const { HOST = '127.0.0.1', PORT = '8080', TEMPORAL_UI_UPSTREAM = '127.0.0.1:8233' } = process.env;
const [, host, port] = /^(.+):(\d+)$/.exec(TEMPORAL_UI_UPSTREAM) ?? [];
if (host === undefined) throw new Error('TEMPORAL_UI_UPSTREAM must be host:port.');
const names = process.env.TEMPORAL_UI_URL ? [new URL(process.env.TEMPORAL_UI_URL).hostname] : [];

const server = createUiProxy({ upstream: { host, port: Number(port) }, names });
server.listen(Number(PORT), HOST);
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});

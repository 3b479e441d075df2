import { connect, createServer, type Socket } from 'node:net';

/**
 * A small load balancer: `node proxy.js <port> <host:port>…`. Connections go in turn to the APIs that
 * answered the latest check.
 */
const LOOK_EVERY_MS = 500;
const ANSWER_MS = 1_000;

const [port, ...addresses] = process.argv.slice(2);
const targets = addresses.map((address) => ({ address, isWell: true }));
let turn = 0;

async function look(target: (typeof targets)[number]): Promise<void> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  target.isWell = await fetch(`http://${target.address}/healthz`, { signal }).then(
    ({ ok }) => ok,
    () => false,
  );
}

function join(from: Socket, to: Socket): void {
  from.setNoDelay(true);
  from.on('error', () => to.destroy());
  from.on('close', () => {
    to.destroySoon();
  });
  from.pipe(to);
}

setInterval(() => {
  for (const target of targets) void look(target);
}, LOOK_EVERY_MS);

createServer((client) => {
  const well = targets.filter(({ isWell }) => isWell);
  const choice = well[(turn += 1) % well.length];
  if (choice === undefined) {
    client.destroy();
    return;
  }
  const [host = '', at = ''] = choice.address.split(':');
  const api = connect(Number(at), host);
  api.on('error', () => {
    choice.isWell = false;
  });
  join(client, api);
  join(api, client);
}).listen(Number(port), '127.0.0.1');

// The proxy ends with its parent process.
process.on('disconnect', () => process.exit());

import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openChaosBench } from '../../scripts/start/chaos/bench.mjs';
import { readSettings } from '../../scripts/start/settings.mjs';

let api;
let asked;
let killed;
let ends;
let bench;
let origin;

beforeEach(async () => {
  [asked, killed, ends] = [[], [], []];
  api = createServer((request, response) => {
    asked.push(request);
    response.writeHead(200, { 'content-type': 'text/html', 'x-frame-options': 'DENY' });
    response.end('<body></body>');
  });
  api.listen(0, '127.0.0.1');
  await once(api, 'listening');
  bench = await openChaosBench({
    url: `http://127.0.0.1:${api.address().port}`,
    kill: (name) => killed.push(name) && name !== 'Redis',
    fleet: { add: ({ stop }) => ends.push(stop) },
  });
  ({ origin } = new URL(bench));
});
afterEach(() => {
  for (const end of ends) end();
  api.closeAllConnections();
  api.close();
});

const act = (name, headers = {}) =>
  fetch(`${origin}/chaos/act`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ act: name }),
  });

describe('the chaos bench', () => {
  it('its acts kill what was started here, and nothing else can be named', async () => {
    expect((await act('kill-worker')).status).toBe(204);
    expect((await act('restart-redis')).status).toBe(409);
    for (const name of ['toString', 'kill-init', '']) expect((await act(name)).status).toBe(400);
    const simple = await act('kill-api', { 'content-type': 'text/plain' });
    expect(simple.status).toBe(400);
    expect(killed).toEqual(['worker', 'Redis']);
  });

  it('pages of other sites reach neither its acts nor its devices', async () => {
    const foreign = [
      { origin: 'http://evil.test' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' },
    ];
    for (const headers of foreign) {
      expect((await act('kill-worker', headers)).status).toBe(403);
      expect((await fetch(`${origin}/?session=s`, { headers })).status).toBe(403);
    }
    expect([killed, asked]).toEqual([[], []]);
  });

  it('a device is framed by the bench alone, and the API sees a browser on its own origin', async () => {
    const reply = await fetch(`${origin}/?session=s`, { headers: { origin } });
    expect(reply.headers.get('x-frame-options')).toBeNull();
    expect(reply.headers.get('content-security-policy')).toBe(`frame-ancestors ${origin}`);
    expect(await reply.text()).toContain('/chaos/device.js');
    expect(asked[0].headers).toMatchObject({ host: `127.0.0.1:${api.address().port}` });
    expect(asked[0].headers.origin).toBeUndefined();
  });

  it('a dropped network is that of one device', async () => {
    expect((await act('drop-network')).status).toBe(204);
    await expect(fetch(`${origin}/?session=s`)).rejects.toThrow();
    const { deviceB } = await (await fetch(`${origin}/chaos/devices`)).json();
    expect((await fetch(`${deviceB}/?session=s`)).status).toBe(200);
  });
});

describe('CHAOS', () => {
  const settings = (env) => readSettings(env, '/').chaos;
  it('it is off unless asked for', () => {
    expect([settings({}), settings({ CHAOS: '0' }), settings({ CHAOS: '1' })]).toEqual([
      ...[false, false, true],
    ]);
  });

  it.each([{ HOST: '0.0.0.0', HELIX_ALLOW_UNAUTHENTICATED: '1' }, { JWT_SECRET: 'k' }])(
    'it is refused where others come: %j',
    (env) => {
      expect(() => settings({ ...env, CHAOS: '1' })).toThrow('this machine only');
    },
  );
});

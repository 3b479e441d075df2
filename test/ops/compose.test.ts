import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jwtVerify } from 'jose';
import { parse } from 'yaml';

interface Service {
  environment?: Record<string, string | null>;
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  ports?: string[];
  image?: string;
  stop_grace_period?: string;
  command?: string[];
  volumes?: string[];
  configs?: { source: string }[];
}

interface Composition {
  services: Record<string, Service>;
  configs?: Record<string, { file?: string }>;
  secrets?: Record<string, { file?: string }>;
}

const textOf = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const compose = textOf('docker-compose.yml');
const { services } = parse(compose, { merge: true }) as { services: Record<string, Service> };

/** Settings that Compose decides itself, or that only a supervisor sets. */
const OF_COMPOSE = [
  ...['DATA_DIR', 'LISTEN_WITHIN', 'LEASE_ID', 'ENDED_LEASE_ID'],
  // It brings a Temporal of its own, which has neither TLS nor keys.
  ...['TEMPORAL_API_KEY', 'TEMPORAL_CONFIG_FILE', 'TEMPORAL_PROFILE', 'TEMPORAL_TLS'],
];

describe('docker-compose.yml', () => {
  it('every setting of the processes is passed on, or is one that Compose decides', () => {
    const declared = [...textOf('config/env.ts').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)];
    const passed = new Set([
      ...Object.keys(services['api']?.environment ?? {}),
      ...Object.keys(services['worker']?.environment ?? {}),
    ]);
    const left = declared
      .map(([, name = '']) => name)
      .filter((name) => !passed.has(name) && !name.startsWith('TEMPORAL_TLS_'));
    expect(left.sort()).toEqual(OF_COMPOSE.sort());
  });

  it('the worker gets all that the API gets, but for what only serves requests', () => {
    const ofRequests =
      /^(HOST|PORT|METRICS_PORT|HELIX_ALLOW_UNAUTHENTICATED|JWT_\w+|\w+_ROLE|BUSY_POLICY|WEB_ROOT|CORS_\w+|MAX_\w+|TRUSTED_PROXIES)$/;
    const { api, worker } = services;
    const rest = Object.entries(api?.environment ?? {}).filter(([name]) => !ofRequests.test(name));
    expect(worker?.environment).toMatchObject(Object.fromEntries(rest));
    expect(rest.length).toBeGreaterThan(30);
  });

  it.each(Object.entries(services))('%s has no rights that it does not need', (_name, service) => {
    expect(service.read_only).toBe(true);
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    expect(service.user).toMatch(/^(?!root$|0$)\S+$/);
    expect(service.image).toMatch(/^helix-temporal$|:[\w.-]*\d[\w.-]*$/);
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it('no password has a value that everybody knows', () => {
    expect(compose).not.toMatch(/PASSWORD:-[^}]/);
    const used = [...compose.matchAll(/\$\{(\w*PASSWORD)([^}]*)\}/g)];
    expect(used.length).toBeGreaterThan(3);
    for (const [, , rest] of used) expect(rest).toMatch(/^:\?/);
  });
});

/** Folders that the images' users own, by their definitions; a new volume takes its owner from there. */
const OWN_FOLDERS: Record<string, string> = {
  postgres: '/var/lib/postgresql/data',
  redis: '/data',
  'temporalio/temporal': '/home/temporal',
  'prom/prometheus': '/prometheus',
  'grafana/grafana': '/var/lib/grafana',
};
const SCRIPT = fileURLToPath(new URL('../../templates/app/env.sh', import.meta.url));

describe.each(['docker-compose.yml', 'templates/app/compose.yaml'])('%s', (path) => {
  const text = textOf(path);
  const all = parse(text, { merge: true }) as Composition;
  const everyService = Object.values(all.services);

  it('configs and secrets are files, which a service that writes nothing can have', () => {
    for (const each of [all.configs, all.secrets].flatMap((some) => Object.values(some ?? {}))) {
      expect(Object.keys(each)).toEqual(['file']);
      expect(textOf(join(dirname(path), each.file ?? ''))).not.toBe('');
    }
  });

  it('a volume is where the user of its image can write', () => {
    const mounts = everyService.flatMap(({ image = '', volumes = [] }) =>
      volumes
        .filter((volume) => /^\w/.test(volume))
        .map((volume) => [image.split(':')[0], volume.split(':')[1]]),
    );
    expect(mounts.length).toBeGreaterThan(1);
    for (const [image = '', target] of mounts)
      expect([image, target]).toEqual([image, OWN_FOLDERS[image]]);
  });

  it.each(['open', 'tokens'])(
    'what must be set is named in its head, and env.sh %s writes it',
    (choice) => {
      const head = text.slice(0, text.search(/^[^#]/m));
      expect(head).toContain(`env.sh ${choice} `);
      const folder = mkdtempSync(join(tmpdir(), 'helix-env-'));
      try {
        const file = join(folder, '.env');
        writeFileSync(file, 'MODEL=\nREDIS_PASSWORD=of-a-volume', { mode: 0o644 });
        execFileSync('sh', [SCRIPT, choice], { cwd: folder });
        const env = readFileSync(file, 'utf8');
        expect(statSync(file).mode & 0o777).toBe(0o600);
        expect(env.match(/^REDIS_PASSWORD=.*$/gm)).toEqual(['REDIS_PASSWORD=of-a-volume']);
        const written = new Set([...env.matchAll(/^(\w+)=./gm)].map(([, name]) => name));
        const needed = [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
        expect(needed.length).toBeGreaterThan(2);
        expect(needed.filter((name) => !written.has(name))).toEqual([]);
        expect(() => execFileSync('sh', [SCRIPT, choice], { cwd: folder, stdio: 'pipe' })).toThrow(
          '.env says who may use the API already',
        );
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  it('a worker has 60 s to hand its replies over', () => {
    expect(all.services['worker']?.stop_grace_period).toBe('60s');
  });
});

it('a token of env.sh names its user and roles, and ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'helix-env-'));
  const run = (...args: string[]): string =>
    execFileSync('sh', [SCRIPT, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
  try {
    expect(() => run('token', 'ada')).toThrow('.env has no JWT_SECRET');
    run('tokens');
    const [, secret = ''] =
      /^JWT_SECRET=(.*)$/m.exec(readFileSync(join(folder, '.env'), 'utf8')) ?? [];
    const { payload } = await jwtVerify(
      run('token', 'ada', 'viewer', 'operator').trim(),
      new TextEncoder().encode(secret),
    );
    expect(payload).toMatchObject({ sub: 'ada', roles: 'viewer operator' });
    expect(payload.exp).toBeGreaterThan(Date.now() / 1_000);
    expect(() => run('token', 'a"b')).toThrow('Say for whom');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

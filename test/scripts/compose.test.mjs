import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jwtVerify } from 'jose';
import { parse, parseAllDocuments } from 'yaml';
import { SEARCH_ATTRIBUTES } from '../../protocol/temporal.js';
import { redisArguments } from '../../scripts/engines/redis.mjs';
import { DEV_SERVER } from '../../scripts/engines/temporal.mjs';
import { temporalArguments } from '../../scripts/engines/temporal-server.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (path) => readFileSync(join(root, path), 'utf8');
const read = (path) => parse(textOf(path), { merge: true });

const SKIPPED = new Set(['node_modules', 'dist', '.git', '.data', 'test']);
/** Matches text that starts Temporal, its UI, Redis or Postgres, or tells a reader to. */
const STARTS =
  /\bstart-dev\b|\btemporalio\/(server|temporal|ui|auto-setup|admin-tools)\b|(['"]|- )(redis|valkey)-server\b|image: *['"]?(redis|valkey|postgres)\b|docker run\b/;

function starters(folder = '') {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (SKIPPED.has(entry.name)) return [];
    if (entry.isDirectory()) return starters(path);
    return entry.isFile() && STARTS.test(textOf(path)) ? [path] : [];
  });
}

/** Compose files with their published services, writing services, and fixed settings. */
const COMPOSE = {
  'docker-compose.yml': {
    published: ['api', 'grafana', 'temporal-ui-proxy'],
    writes: [],
    // The file starts its own Temporal, which has neither TLS nor keys.
    decided: ['TEMPORAL_API_KEY', 'TEMPORAL_CONFIG_FILE', 'TEMPORAL_PROFILE', 'TEMPORAL_TLS'],
  },
  'templates/app/compose.yaml': {
    published: ['api'],
    // The template's tool stands in for a payment provider and writes to a file.
    writes: ['worker'],
    decided: [
      'TEMPORAL_API_KEY',
      'TEMPORAL_CONFIG_FILE',
      'TEMPORAL_PROFILE',
      'TEMPORAL_TLS',
      // The template has a fixed namespace, no UI, no lab agent, and its own agents' file.
      'TEMPORAL_NAMESPACE',
      'TEMPORAL_UI_URL',
      'LAB',
      'LAB_SHAPE',
      'AGENTS',
    ],
  },
};

it('every file that starts an engine is known here, and held to the rules below', () => {
  expect(starters().sort()).toEqual(
    [
      ...Object.keys(COMPOSE),
      // Its commands start only this repository's image.
      'docs/deploying.md',
      // These files name programs and images to look for.
      'scripts/containers/images.mjs',
      'scripts/engines/redis.mjs',
      // The program's arguments are tested below.
      'scripts/engines/temporal-server.mjs',
    ].sort(),
  );
});

/** Settings that only a supervisor or a test sets, or only a machine's launcher reads. */
const OF_NO_CONTAINER = ['DATA_DIR', 'LISTEN_WITHIN', 'LEASE_ID', 'ENDED_LEASE_ID', 'HELIX_TIMES'];
const OF_REQUESTS =
  /^(HOST|PORT|METRICS_PORT|HELIX_ALLOW_UNAUTHENTICATED|JWT_\w+|\w+_ROLE|REPLIES_OUTLIVE_TOKENS|BUSY_POLICY|WEB_ROOT|CORS_\w+|MAX_\w+|TRUSTED_PROXIES)$/;
const flagsOf = (args) => args.filter((_, at) => args[at - 1] === '--dynamic-config-value');
const TEMPORAL = temporalArguments({ port: 7233, databaseFile: '' });

describe.each(Object.entries(COMPOSE))('%s', (path, { published, writes, decided }) => {
  const text = textOf(path);
  const { services } = read(path);
  const named = (image) =>
    Object.entries(services).filter(([, service]) => service.image?.startsWith(image));

  it.each(Object.entries(services))('%s has no rights that it does not need', (name, service) => {
    expect(service.read_only).toBe(!writes.includes(name));
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    expect(service.user).toMatch(/^(?!root$|0$)\S+$/);
    // Images come from a registry by their version or are built here.
    if (service.pull_policy !== 'never') expect(service.image).toMatch(/:[\w.-]*\d[\w.-]*$/);
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
    const keys = Object.keys(service.environment ?? {});
    const models = keys.filter((key) => /^(OPENAI|ANTHROPIC|GOOGLE)\w*_API_KEY$/.test(key));
    if (models.length > 0) expect(['api', 'worker']).toContain(name);
    if (keys.some((key) => key.startsWith('JWT_'))) expect(name).toBe('api');
  });

  it('only pages are published, no engine', () => {
    const found = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    expect(found.map(([name]) => name).sort()).toEqual(published);
  });

  it('Temporal obeys no web page, and does not reach the record', () => {
    const servers = [...named('temporalio/server:'), ...named('temporalio/temporal:')];
    expect(servers).toHaveLength(1);
    expect(flagsOf(TEMPORAL)).toContain('frontend.httpAllowedHosts=["/"]');
    for (const [, { image, command = [], configs = [], networks }] of servers) {
      expect(networks).toEqual(['engine']);
      if (image?.startsWith('temporalio/server:')) {
        const [{ source } = { source: '' }] = configs;
        expect(read(path).configs?.[source]?.file).toBe('./ops/temporal/dynamic-config.yaml');
        continue;
      }
      expect(image).toBe(`temporalio/temporal:${DEV_SERVER.version}`);
      expect(command).toContain('--headless');
      const settings = flagsOf(TEMPORAL).map((each) => `--dynamic-config-value=${each}`);
      expect(command).toEqual(expect.arrayContaining(settings));
    }
    for (const [, { networks }] of named('redis:')) expect(networks).toEqual(['record']);
  });

  it('a Temporal UI is reached by its proxy alone', () => {
    for (const [, ui] of named('temporalio/ui:')) {
      expect(ui.network_mode).toBe('service:temporal-ui-proxy');
      const { environment } = services['temporal-ui-proxy'] ?? {};
      expect(environment).toMatchObject({ TEMPORAL_UI_UPSTREAM: '127.0.0.1:8081' });
      expect(textOf('ops/temporal/ui.yaml')).toMatch(/^host: 127\.0\.0\.1\nport: 8081$/m);
    }
  });

  it('passwords are demanded, and none has a value that everybody knows', () => {
    const used = [...text.matchAll(/\$\{(\w*PASSWORD)([^}]*)\}/g)];
    expect(used.length).toBeGreaterThan(2);
    for (const [, , rest] of used) expect(rest).toMatch(/^:\?/);
    for (const [, { command = [] }] of named('redis:')) expect(command).toContain('--requirepass');
    for (const [, { environment }] of named('postgres:'))
      expect(environment).toHaveProperty('POSTGRES_PASSWORD');
  });

  it('who may use the API is said by its user: no file answers it', () => {
    const said = Object.values(services).flatMap(({ environment = {} }) =>
      Object.entries(environment).filter(([key]) => key === 'HELIX_ALLOW_UNAUTHENTICATED'),
    );
    expect(said).toEqual([[expect.anything(), expect.stringMatching(/^\$\{\w+:\?[^}]+\}$/)]]);
    expect(text.match(/HELIX_ALLOW_UNAUTHENTICATED[:=] *['"]?(1|true)/)).toBeNull();
    // A default would turn an absent key into a blank one, which is an error.
    const keys = Object.entries(services['api']?.environment ?? {});
    for (const [key, value] of keys.filter(([name]) => name.startsWith('JWT_')))
      expect([key, value]).toEqual([key, null]);
  });

  it('every setting of the processes is passed on, or is one that the file decides', () => {
    const declared = [...textOf('config/env.ts').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)];
    const passed = new Set([
      ...Object.keys(services['api']?.environment ?? {}),
      ...Object.keys(services['worker']?.environment ?? {}),
    ]);
    const left = declared
      .map(([, name = '']) => name)
      .filter((name) => !passed.has(name) && !name.startsWith('TEMPORAL_TLS_'));
    expect(left.sort()).toEqual([...OF_NO_CONTAINER, ...decided].sort());
    const { PUBLIC_URL } = services['api']?.environment ?? {};
    expect(PUBLIC_URL).toBe('${PUBLIC_URL:-http://localhost:${PORT:-3000}}');
  });

  it('the worker gets all that the API gets, but for what only serves requests', () => {
    const { api, worker } = services;
    const rest = Object.entries(api?.environment ?? {}).filter(([name]) => !OF_REQUESTS.test(name));
    expect(worker?.environment).toMatchObject(Object.fromEntries(rest));
    expect(rest.length).toBeGreaterThan(30);
  });
});

const after = (args, flag) => args[args.indexOf(flag) + 1];
const REDIS = redisArguments({ port: 6379, folder: '' });

it('programs start engines on loopback, without a UI that nobody asked for', () => {
  expect(TEMPORAL).toContain('--headless');
  expect(after(TEMPORAL, '--ip')).toBe('127.0.0.1');
  expect(after(REDIS, '--bind')).toBe('127.0.0.1');
});

it('engines that programs start keep what they are given, and know the labels of runs', () => {
  expect(after(REDIS, '--appendonly')).toBe('yes');
  expect(after(REDIS, '--maxmemory-policy')).toBe('noeviction');
  expect(temporalArguments({ port: 7233, databaseFile: 'a.db' })).toContain('--db-filename');
  const labels = TEMPORAL.filter((_, at) => TEMPORAL[at - 1] === '--search-attribute');
  const needed = Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => `${name}=${type}`);
  expect(labels.map((each) => each.toLowerCase()).sort()).toEqual(
    needed.map((each) => each.toLowerCase()).sort(),
  );
});

it('the manifests of Kubernetes hold no secret, open no server, and give no rights', () => {
  const text = textOf('ops/kubernetes/helix-temporal.yaml');
  expect(text).not.toMatch(/HELIX_ALLOW_UNAUTHENTICATED|PASSWORD|JWT_|kind: (Secret|Ingress)/);
  const pods = parseAllDocuments(text)
    .map((each) => each.toJS())
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ spec }) => spec.template.spec);
  expect(pods.map(({ containers }) => containers.map(({ name }) => name))).toEqual([
    ['api'],
    ['worker'],
  ]);
  for (const { automountServiceAccountToken, securityContext, containers } of pods) {
    expect(automountServiceAccountToken).toBe(false);
    expect(securityContext).toMatchObject({ runAsNonRoot: true });
    for (const container of containers)
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
  }
});

/** Folders that the images' users own; a new volume inherits the owner from its image. */
const OWN_FOLDERS = {
  postgres: '/var/lib/postgresql/data',
  redis: '/data',
  'temporalio/temporal': '/home/temporal',
  'prom/prometheus': '/prometheus',
  'grafana/grafana': '/var/lib/grafana',
};
const SCRIPT = join(root, 'templates/app/env.sh');

describe.each(Object.keys(COMPOSE))('%s', (path) => {
  const text = textOf(path);
  const all = read(path);
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
  const run = (...args) =>
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

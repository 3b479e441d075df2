import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
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

it.each(['docker-compose.yml', 'templates/app/compose.yaml'])(
  'a worker has 60 s to hand its replies over in %s',
  (path) => {
    const all = parse(textOf(path), { merge: true }) as { services: Record<string, Service> };
    expect(all.services['worker']?.stop_grace_period).toBe('60s');
  },
);

import { HelixError } from '../../protocol/errors.js';

export interface HostAndPort {
  host: string;
  port: number;
}

interface Access {
  username?: string;
  password?: string;
  tls: boolean;
}

/** The address of a Redis, by kind of deployment. */
export type RedisAddress =
  | { kind: 'standalone'; url: string }
  | ({ kind: 'cluster'; nodes: HostAndPort[] } & Access)
  | ({ kind: 'sentinel'; sentinels: HostAndPort[]; name: string; db: number } & Access);

const FORM = /^(rediss?)(?:-(cluster|sentinel))?:\/\/(?:(.*)@)?([^/@?#]*)(?:\/([^?#]*))?$/;
const HOST = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/i;
const MASTER = /^([\w.-]+)(?:\/(\d{1,4}))?$/;
const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

/**
 * Parses the address of a Redis; `rediss` instead of `redis` means TLS:
 *
 * - `redis://[user:password@]host[:port][/db]`
 * - `redis-cluster://[user:password@]host[:port],…` names some nodes of a cluster
 * - `redis-sentinel://[user:password@]host[:port],…/<master>[/db]` names Sentinels; user and
 *   password are those of the servers that they watch
 *
 * @throws HelixError `validation_error`, which does not repeat the address, since it may contain a
 * password
 */
export function parseRedisAddress(url: string): RedisAddress {
  if (/^rediss?:\/\//.test(url) && URL.canParse(url)) return { kind: 'standalone', url };
  const [, scheme, kind, user, hosts, path] = FORM.exec(url) ?? [];
  if (kind === undefined || hosts === undefined) {
    throw wrong('it must be a redis://, redis-cluster:// or redis-sentinel:// URL');
  }
  const access = { ...parseUser(user), tls: scheme === 'rediss' };
  if (kind === 'cluster') {
    if (path) throw wrong('a cluster has one database, so nothing may follow the hosts');
    return { kind, nodes: parseHosts(hosts, REDIS_PORT), ...access };
  }
  const [, name, db] = MASTER.exec(path ?? '') ?? [];
  if (name === undefined) throw wrong('the name of the master must follow the Sentinels');
  const sentinels = parseHosts(hosts, SENTINEL_PORT);
  return { kind: 'sentinel', sentinels, name, db: Number(db ?? 0), ...access };
}

function parseHosts(hosts: string, defaultPort: number): HostAndPort[] {
  return hosts.split(',').map((text) => {
    const [, ipv6, name, port] = HOST.exec(text) ?? [];
    const host = ipv6 ?? name;
    if (host === undefined || Number(port) > 65_535) {
      throw wrong('its hosts must look like host:port,host:port');
    }
    return { host, port: Number(port ?? defaultPort) };
  });
}

function parseUser(text: string | undefined): Pick<Access, 'username' | 'password'> {
  if (!text) return {};
  const colon = text.indexOf(':');
  const [name, password] =
    colon < 0 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
  try {
    return {
      ...(name && { username: decodeURIComponent(name) }),
      ...(password && { password: decodeURIComponent(password) }),
    };
  } catch {
    throw wrong('user and password must be percent-encoded');
  }
}

function wrong(why: string): HelixError {
  return new HelixError('validation_error', `This is not the address of a Redis: ${why}.`);
}

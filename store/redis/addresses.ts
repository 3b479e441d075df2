import { HelixError } from '../../protocol/errors.js';

export interface HostAndPort {
  host: string;
  port: number;
}

/** Paths of PEM files for TLS: a private authority, and a client's certificate with its key. */
export type TlsFiles = Partial<Record<(typeof TLS_FILES)[number], string>>;

export interface Access {
  username?: string;
  password?: string;
  tls: boolean;
  files?: TlsFiles;
}

export type RedisAddress =
  | { kind: 'standalone'; url: string; files?: TlsFiles }
  | ({ kind: 'cluster'; nodes: HostAndPort[] } & Access)
  | ({ kind: 'sentinel'; sentinels: HostAndPort[]; name: string; db: number } & Access &
      SentinelAccess);

type SentinelAccess = Partial<Record<(typeof SENTINEL_ACCESS)[number], string>>;

const FORM = /^(rediss?)(?:-(cluster|sentinel))?:\/\/(?:(.*)@)?([^/@?#]*)(?:\/([^?#]*))?$/;
const HOST = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/i;
const MASTER = /^([\w.-]+)(?:\/(\d{1,4}))?$/;
const TLS_FILES = ['ca', 'cert', 'key'] as const;
const SENTINEL_ACCESS = ['sentinelUsername', 'sentinelPassword'] as const;
const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

/**
 * Parses the address of a Redis; `rediss` instead of `redis` means TLS:
 *
 * - `redis://[user:password@]host[:port][/db]`
 * - `redis-cluster://[user:password@]host[:port],…` names some nodes of a cluster
 * - `redis-sentinel://[user:password@]host[:port],…/<master>[/db]` names Sentinels; user and
 *   password are those of the servers that they watch; `?sentinelUsername=…&sentinelPassword=…`
 *   are their own
 *
 * Behind an address with TLS, `?ca=<file>&cert=<file>&key=<file>` names PEM files.
 *
 * @throws HelixError `validation_error`, which does not repeat the address, since it may contain a
 * password
 */
export function parseRedisAddress(address: string): RedisAddress {
  const { url: whole, files } = takeTlsFiles(address);
  const { url, taken } = /^rediss?-sentinel:/.test(whole)
    ? takeParameters(whole, SENTINEL_ACCESS)
    : { url: whole, taken: {} };
  if (/^rediss?:\/\//.test(url) && URL.canParse(url)) return { kind: 'standalone', url, ...files };
  const [, scheme, kind, user, hosts, path] = FORM.exec(url) ?? [];
  if (kind === undefined || hosts === undefined) {
    throw invalidAddress('it must be a redis://, redis-cluster:// or redis-sentinel:// URL');
  }
  const access = { ...parseUser(user), tls: scheme === 'rediss', ...files };
  if (kind === 'cluster') {
    if (path) throw invalidAddress('a cluster has one database, so nothing may follow the hosts');
    return { kind, nodes: parseHosts(hosts, REDIS_PORT), ...access };
  }
  const [, name, db] = MASTER.exec(path ?? '') ?? [];
  if (name === undefined) throw invalidAddress('the name of the master must follow the Sentinels');
  const sentinels = parseHosts(hosts, SENTINEL_PORT);
  return { kind: 'sentinel', sentinels, name, db: Number(db ?? 0), ...access, ...taken };
}

/** Splits the names of files off an address. */
function takeTlsFiles(address: string): { url: string; files?: { files: TlsFiles } } {
  const { url, taken: files } = takeParameters(address, TLS_FILES);
  if (Object.keys(files).length === 0) return { url };
  if (!address.startsWith('rediss'))
    throw invalidAddress('ca, cert and key are for rediss…, which is TLS');
  if ((files.cert === undefined) !== (files.key === undefined)) {
    throw invalidAddress('cert and key must both be given');
  }
  return { url, files: { files } };
}

/** Splits the parameters of these names off an address. */
function takeParameters<Name extends string>(address: string, names: readonly Name[]) {
  // A password before the hosts may contain a question mark too.
  const at = address.lastIndexOf('?');
  const parameters = new URLSearchParams(at < 0 ? '' : address.slice(at + 1));
  const taken: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = parameters.get(name);
    if (value === null) continue;
    taken[name] = value;
    parameters.delete(name);
  }
  if (Object.keys(taken).length === 0) return { url: address, taken };
  const [url, rest] = [address.slice(0, at), parameters.toString()];
  return { url: rest === '' ? url : `${url}?${rest}`, taken };
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function parseHosts(hosts: string, defaultPort: number): HostAndPort[] {
  return hosts.split(',').map((text) => {
    const [, ipv6, name, port] = HOST.exec(text) ?? [];
    const host = ipv6 ?? name;
    if (host === undefined || Number(port) > 65_535) {
      throw invalidAddress('its hosts must look like host:port,host:port');
    }
    return { host, port: Number(port ?? defaultPort) };
  });
}

function parseUser(text: string | undefined): Pick<Access, 'username' | 'password'> {
  if (!text) return {};
  const [name, password] = splitOnce(text, ':');
  try {
    return {
      ...(name && { username: decodeURIComponent(name) }),
      ...(password && { password: decodeURIComponent(password) }),
    };
  } catch {
    throw invalidAddress('user and password must be percent-encoded');
  }
}

function invalidAddress(why: string): HelixError {
  return new HelixError('validation_error', `This is not the address of a Redis: ${why}.`);
}

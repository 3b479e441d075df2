import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RedisSettings } from '../../scripts/engines/redis.mjs';

/** Paths of a self-signed certificate for 127.0.0.1 and of its key. */
export interface RedisCertificate {
  certificate: string;
  key: string;
}

export async function makeCertificate(folder: string): Promise<RedisCertificate> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const kind = 'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=redis.test -addext';
  const names = 'subjectAltName=IP:127.0.0.1,DNS:localhost';
  const args = [...kind.split(' '), names, '-keyout', key, '-out', certificate];
  await promisify(execFile)('openssl', args);
  return { key, certificate };
}

/** Returns the query of an address that names the authority, the certificate and its key. */
export function filesIn({ certificate, key }: RedisCertificate): string {
  return `?ca=${certificate}&cert=${certificate}&key=${key}`;
}

/** Returns the settings with which a Redis server or Sentinel speaks TLS, also to its peers. */
export function tlsSettings({ certificate, key }: RedisCertificate, port: number): RedisSettings {
  return {
    'tls-port': port,
    'tls-cert-file': certificate,
    'tls-key-file': key,
    'tls-ca-cert-file': certificate,
    'tls-auth-clients': 'yes',
    'tls-replication': 'yes',
  };
}

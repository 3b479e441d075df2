import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Paths of a self-signed certificate for 127.0.0.1 and of its key. */
export interface RedisCertificate {
  certificate: string;
  key: string;
}

export async function makeCertificate(folder: string): Promise<RedisCertificate> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  await promisify(execFile)('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=redis.test',
    '-addext',
    'subjectAltName=IP:127.0.0.1,DNS:localhost',
    '-keyout',
    key,
    '-out',
    certificate,
  ]);
  return { key, certificate };
}

/** Returns the query of an address that names the authority, the certificate and its key. */
export function filesIn({ certificate, key }: RedisCertificate): string {
  return `?ca=${certificate}&cert=${certificate}&key=${key}`;
}

/** Returns the arguments with which a Redis server or Sentinel speaks TLS, also to its peers. */
export function tlsArguments({ certificate, key }: RedisCertificate, port: number): string[] {
  return [
    '--tls-port',
    String(port),
    '--tls-cert-file',
    certificate,
    '--tls-key-file',
    key,
    '--tls-ca-cert-file',
    certificate,
    '--tls-auth-clients',
    'yes',
    '--tls-replication',
    'yes',
  ];
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SignJWT } from 'jose';
import { readLink, toDecideUrl, type LinkClaims } from '../../../extensions/notify/decide-links.js';
import { hashInput } from '../../../protocol/shown-call.js';

const [KEY, OLD] = ['k'.repeat(32), 'o'.repeat(32)];
const CLAIMS: LinkClaims = {
  sub: 'ann',
  roles: ['approver'],
  sessionId: 's',
  runId: 's:1-a',
  toolCallId: 'c1',
  inputHash: hashInput({ amount: 5 }),
};
const WEEK_MS = 7 * 24 * 3_600_000;
const tokenOf = async (key: string, now?: number): Promise<string> =>
  new URL(await toDecideUrl('https://page.test', key, CLAIMS, now)).searchParams.get('token') ?? '';

it('a link carries its claims, and holds while its key is one of the known', async () => {
  expect(await readLink([KEY, OLD], await tokenOf(OLD))).toMatchObject(CLAIMS);
  await expect(readLink([KEY], await tokenOf(OLD))).rejects.toMatchObject({ code: 'unauthorized' });
});

it('links hold while processes change the key one by one: new key last, then first, then alone', async () => {
  const stages = [[OLD], [OLD, KEY], [KEY, OLD]];
  // A worker signs with the first key.
  const signedIn = (stage: string[]): Promise<string> => tokenOf(stage[0] ?? '');
  for (const [index, stage] of stages.entries()) {
    const beside = stages.slice(Math.max(0, index - 1), index + 2);
    for (const known of beside) {
      expect(await readLink(known, await signedIn(stage))).toMatchObject(CLAIMS);
    }
  }
  // The old key's links last a week; the others hold without it.
  expect(await readLink([KEY], await signedIn([KEY, OLD]))).toMatchObject(CLAIMS);
  await expect(readLink([OLD], await signedIn([KEY, OLD]))).rejects.toMatchObject({
    code: 'unauthorized',
  });
});

it('a link that was edited, is over, or is another kind of token is refused', async () => {
  const token = await tokenOf(KEY);
  const [head, body, mac] = token.split('.') as [string, string, string];
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
  const edited = Buffer.from(JSON.stringify({ ...claims, toolCallId: 'c2' })).toString('base64url');
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  const bad = [`${head}.${edited}.${mac}`, `${none}.${body}.`, '', 'x', `${token}x`];
  for (const each of bad) {
    await expect(readLink([KEY], each)).rejects.toMatchObject({ code: 'unauthorized' });
  }
  const over = readLink([KEY], await tokenOf(KEY, Date.now() - WEEK_MS - 1_000));
  await expect(over).rejects.toMatchObject({ code: 'expired' });
  const ofSignIn = await new SignJWT({ ...CLAIMS })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(KEY));
  await expect(readLink([KEY], ofSignIn)).rejects.toMatchObject({ code: 'unauthorized' });
});

it('a link is over after a week', async () => {
  const body = (await tokenOf(KEY)).split('.')[1] ?? '';
  const { exp } = JSON.parse(Buffer.from(body, 'base64url').toString()) as { exp: number };
  expect(exp * 1_000 - Date.now()).toBeLessThanOrEqual(WEEK_MS);
});

/** Module hooks of a process in which the package `jose` is not installed. */
const WITHOUT_JOSE = `export const resolve = (name, context, next) => {
  if (name !== 'jose') return next(name, context);
  throw Object.assign(new Error("Cannot find package 'jose'"), { code: 'ERR_MODULE_NOT_FOUND' });
}`;

it('a worker whose notices would have links does not start without the package that signs them', async () => {
  const built = new URL('../../../dist/extensions/notify/index.js', import.meta.url).href;
  const hooks = `data:text/javascript,${encodeURIComponent(WITHOUT_JOSE)}`;
  const program = `
    import { register } from 'node:module';
    register(${JSON.stringify(hooks)});
    const { notices } = await import(${JSON.stringify(built)});
    const options = { receivers: [], publicUrl: 'http://page.test', linkKeys: ['k'.repeat(32)] };
    await notices(options).worker({}).catch(({ name }) => process.stdout.write(name));`;
  const args = ['--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe('MissingPackageError');
});

import { SignJWT } from 'jose';

export const SECRET = 'a secret of thirty-two bytes, at least';

/** How an API in the test's own process reads tokens of `signToken`. */
export const TOKENS = {
  secret: SECRET,
  rolesClaim: 'realm_access.roles',
  tenantsClaim: 'helps',
};

export interface Person {
  get: (path: string) => Promise<Response>;
  post: (path: string, body?: object) => Promise<Response>;
}

/** Signs a user's `Authorization` header. */
export async function signToken(
  sub: string,
  tenant: string | undefined,
  roles: readonly string[] = [],
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const token = await new SignJWT({ sub, tenant_id: tenant, realm_access: { roles }, ...more })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('30m')
    .sign(new TextEncoder().encode(SECRET));
  return `Bearer ${token}`;
}

/** Returns a function that signs users in, with roles in Keycloak's token format. */
export function createSignIn(getUrl: () => string) {
  return async (sub: string, tenant: string | undefined, ...roles: string[]): Promise<Person> => {
    const authorization = await signToken(sub, tenant, roles);
    const headers = { authorization, 'content-type': 'application/json' };
    const url = (path: string): string => `${getUrl()}/api/${path}`;
    return {
      get: (path) => fetch(url(path), { headers }),
      post: (path, body = {}) =>
        fetch(url(path), { method: 'POST', headers, body: JSON.stringify(body) }),
    };
  };
}

export async function json<T>(reply: Promise<Response>): Promise<T> {
  return (await (await reply).json()) as T;
}

/** Returns the status and, for a refusal, its code. */
export async function outcome(reply: Promise<Response>): Promise<[number, string?]> {
  const response = await reply;
  const text = await response.text();
  const { code } = (text.startsWith('{') ? JSON.parse(text) : {}) as { code?: string };
  return code === undefined ? [response.status] : [response.status, code];
}

import { ROUTES } from './all-routes.js';

interface Sent {
  query?: string;
  body?: object | string;
  headers?: Record<string, string>;
  /** It is refused, with what it was sent in memory. */
  mayFail?: boolean;
}

type Walk = (
  id: string,
  params?: Record<string, string | undefined>,
  sent?: Sent,
) => Promise<string>;

/** Sends requests by the ids of their routes, and notes which were sent. */
export function walkAs(
  getUrl: () => string,
  headers: Record<string, string>,
): Walk & { done: Set<string> } {
  const done = new Set<string>();
  const walk: Walk = async (id, params = {}, sent = {}) => {
    const route = ROUTES.find((each) => each.id === id);
    if (route === undefined) throw new Error(`no route ${id}`);
    done.add(id);
    const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? '');
    const isText = typeof sent.body === 'string';
    const response = await fetch(`${getUrl()}${path}?${sent.query ?? ''}`, {
      method: route.method.toUpperCase(),
      headers: { ...headers, ...sent.headers, ...(isText && { 'content-type': 'text/plain' }) },
      ...(sent.body !== undefined && {
        body: typeof sent.body === 'string' ? sent.body : JSON.stringify(sent.body),
      }),
    });
    // A question holds some replies open, and others end with their conversation only.
    const isEndless = ['followSession', 'followAgent'].includes(id);
    const text = isEndless ? '' : await response.text();
    if (isEndless) await response.body?.cancel();
    const isFine = response.status < (sent.mayFail === true ? 500 : 300);
    expect([id, response.status, isFine ? '' : text, isFine]).toEqual([
      id,
      response.status,
      '',
      true,
    ]);
    return text;
  };
  return Object.assign(walk, { done });
}

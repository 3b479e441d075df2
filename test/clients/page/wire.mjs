// The network as a page sees it: cookies, a log of all traffic, and failures on demand.
/* global Headers, ReadableStream, Response, TextDecoder, TextEncoder */

// A page that reaches this limit is looping; no scenario needs as many.
const MAX_REQUESTS = 12;
const EVENT_END = '\n\n';

/** Creates the cookies that all tabs of a browser share. */
export function createCookieJar(isAllowed = true) {
  const cookies = new Map();
  return {
    keep: (response) => {
      for (const line of isAllowed ? response.headers.getSetCookie() : []) {
        const [pair, ...attributes] = line.split('; ');
        const path = attributes.find((text) => text.startsWith('Path='))?.slice(5) ?? '/';
        cookies.set(`${path} ${pair.split('=')[0]}`, { path, pair });
      }
    },
    read: (url) => {
      const { pathname } = new URL(url);
      const fitting = [...cookies.values()].filter(({ path }) => pathname.startsWith(path));
      return fitting.map(({ pair }) => pair).join('; ');
    },
  };
}

/**
 * Creates `fetch` for one page. `limits` may change at any time: `parts` is the number of parts of
 * each response before the wire is held. `twice` repeats every POST, as a retrying proxy does, and
 * gives the page the later answer.
 */
export function createWire({ jar, onChange }) {
  const requests = [];
  const limits = { parts: Infinity, twice: false };
  const lines = new Set();

  async function send(url, init, entry) {
    const cut = new AbortController();
    const { signal = cut.signal } = init;
    const line = { entry, drop: () => cut.abort(new TypeError('network error')) };
    lines.add(line);
    const close = (end) => {
      entry.end ??= end;
      lines.delete(line);
      onChange();
    };
    let response;
    try {
      const headers = new Headers(init.headers);
      const cookie = jar.read(url);
      if (cookie !== '') headers.set('cookie', cookie);
      const request = { ...init, headers, signal: AbortSignal.any([signal, cut.signal]) };
      const first = limits.twice && entry.method === 'POST' && fetch(url, request);
      response = await fetch(url, request);
      if (first) void first.then((other) => other.arrayBuffer()).catch(() => undefined);
    } catch (error) {
      close(cut.signal.aborted ? 'dropped' : 'aborted');
      throw cut.signal.aborted ? cut.signal.reason : error;
    }
    jar.keep(response);
    entry.status = response.status;
    if (response.body === null) {
      close('ended');
      return response;
    }
    const body = readThrough(response.body, {
      entry,
      limits,
      cut: cut.signal,
      signal,
      close,
      leave: () => {
        close('aborted');
        cut.abort(new TypeError('network error'));
      },
      onChange,
    });
    const { status, headers } = response;
    return new Response(body, { status, headers });
  }

  return {
    requests,
    limits,
    fetch: async (input, init = {}) => {
      const { method = 'GET', body } = init;
      const url = String(input);
      const entry = { method, url, status: null, raw: '', end: null, isHeld: false };
      if (typeof body === 'string') entry.body = JSON.parse(body);
      requests.push(entry);
      onChange();
      if (requests.length > MAX_REQUESTS) {
        entry.end = 'refused';
        throw new Error('this page asks without end');
      }
      return send(url, init, entry);
    },
    /** Breaks every connection with the errors that browsers report. */
    drop: () => {
      for (const line of lines) line.drop();
    },
  };
}

/** Passes the body on as it arrives and reads it to its end even without a reader. */
function readThrough(source, { entry, limits, cut, signal, close, leave, onChange }) {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let given = 0;
  return new ReadableStream({
    // A page may end a long-lived stream; the log gets other bodies to their end.
    cancel: () => entry.url.includes('/agent/sse') && leave(),
    start: async (controller) => {
      let isCancelled = false;
      const give = (text) => {
        if (text === '' || isCancelled) return;
        try {
          controller.enqueue(encoder.encode(text));
        } catch {
          isCancelled = true;
        }
      };
      try {
        for await (const bytes of source) {
          entry.raw += decoder.decode(bytes, { stream: true });
          const until = endOfParts(entry.raw, limits.parts);
          give(entry.raw.slice(given, until));
          given = Math.max(given, until);
          entry.isHeld = until < entry.raw.length;
          onChange();
        }
        // A held wire does not end either.
        if (entry.isHeld) await untilAborted([signal, cut]);
        close('ended');
        if (!isCancelled) controller.close();
      } catch (error) {
        // If neither the page nor the test ended it, the server did.
        const isOurs = signal.aborted && !cut.aborted;
        close(isOurs ? 'aborted' : cut.aborted ? 'dropped' : 'cut');
        if (!isCancelled) controller.error(isOurs ? error : new TypeError('network error'));
      }
    },
  });
}

/** Returns the end of the first parts' text; comments and transient parts do not count. */
function endOfParts(raw, parts) {
  if (parts === Infinity) return raw.length;
  let at = 0;
  for (let count = 0; count < parts;) {
    const end = raw.indexOf(EVENT_END, at);
    if (end < 0) return raw.length;
    const event = raw.slice(at, end);
    if (event.includes('data: ') && !event.includes('"transient":true')) count += 1;
    at = end + EVENT_END.length;
  }
  return at;
}

function untilAborted(signals) {
  return new Promise((_, reject) => {
    for (const signal of signals) {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }
  });
}

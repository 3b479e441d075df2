import { createServer } from 'node:http';

/** Formats a word as a frame. */
export function toFrame(word) {
  return `data: ${word}\n\n`;
}

/**
 * Serves the routes of every compared program: `POST /turns/<id>` begins a turn and streams it, `GET
 * /turns/<id>?words=<n>&chars=<n>` streams the rest of it, `GET /ready` answers.
 */
export function serveTurns({ begin, attach, history }) {
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      console.error(error);
      response.destroy();
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(Number(process.env.PORT), '127.0.0.1');

  async function answer(request, response) {
    const url = new URL(request.url, 'http://127.0.0.1');
    const [, place, id] = url.pathname.split('/');
    if (place === 'ready') return response.end('ready');
    if (place === 'history') return response.end(JSON.stringify(await history(id)));
    response.socket.setNoDelay(true);
    const frames =
      request.method === 'POST'
        ? await begin(id, JSON.parse(await readBody(request)))
        : await attach(id, {
            words: Number(url.searchParams.get('words')),
            chars: Number(url.searchParams.get('chars')),
          });
    if (frames === undefined) {
      response.statusCode = 204;
      return response.end();
    }
    response.setHeader('content-type', 'text/event-stream');
    response.flushHeaders();
    for await (const frame of frames) response.write(frame);
    return response.end();
  }
}

async function readBody(request) {
  let body = '';
  for await (const piece of request) body += piece;
  return body;
}

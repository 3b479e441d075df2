/** How a connection goes. */
export interface LinePlan {
  /** Bytes after which each connection breaks, one after the other; those after the last one hold. */
  breaks: readonly number[];
  /** Most bytes that arrive together. */
  piece: number;
}

/** Connections that break in the middle of whatever they carry, and bring it in pieces. */
export function createBadLine({ breaks, piece }: LinePlan): (response: Response) => Response {
  let connections = 0;
  return (response) => {
    if (response.body === null || response.status !== 200) return response;
    const left = breaks[connections] ?? Infinity;
    connections += 1;
    const reader = response.body.getReader();
    return new Response(toPieces(reader, left, piece), response);
  };
}

function toPieces(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  breaksAfter: number,
  piece: number,
): ReadableStream<Uint8Array> {
  let left = breaksAfter;
  let rest = new Uint8Array();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (left <= 0) {
          controller.error(new TypeError('network error'));
          await reader.cancel();
          return;
        }
        if (rest.length === 0) {
          const { done, value } = await reader.read();
          if (done) {
            controller.close();
            return;
          }
          rest = new Uint8Array(value);
        }
        const size = Math.min(left, piece, rest.length);
        left -= size;
        controller.enqueue(rest.slice(0, size));
        rest = rest.slice(size);
      },
      cancel: () => reader.cancel(),
    },
    // Nothing is taken in advance: what has not arrived is lost with the connection.
    { highWaterMark: 0 },
  );
}

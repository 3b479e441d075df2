/** Pairs of states: an action leads from the one to the other. */
export interface Edges {
  readonly size: () => number;
  add: (from: number, to: number) => void;
  from: (edge: number) => number;
  to: (edge: number) => number;
}

export function createEdges(): Edges {
  let ends = new Int32Array(1 << 16);
  let size = 0;
  return {
    size: () => size,
    add: (from, to) => {
      if (size * 2 === ends.length) {
        const larger = new Int32Array(ends.length * 2);
        larger.set(ends);
        ends = larger;
      }
      ends[size * 2] = from;
      ends[size * 2 + 1] = to;
      size += 1;
    },
    from: (edge) => ends[edge * 2] ?? 0,
    to: (edge) => ends[edge * 2 + 1] ?? 0,
  };
}

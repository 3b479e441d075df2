/**
 * The states that were reached, each once: a record and its environment, by number. Of each state the
 * action is kept that reached it first, which is the last one of a shortest trace.
 */
export interface States {
  readonly size: () => number;
  /** The number of a state; the next number if it is new, and then the action is looked up. */
  add: (record: number, environment: number, parent: number, action: () => number) => number;
  record: (state: number) => number;
  environment: (state: number) => number;
  parent: (state: number) => number;
  action: (state: number) => number;
}

const FIELDS = 4;
const FIRST_SLOTS = 1 << 16;

export function createStates(): States {
  let fields = new Int32Array(FIRST_SLOTS * FIELDS);
  /** Numbers of states from 1, by the hash of record and environment; 0 is a free slot. */
  let slots = new Int32Array(FIRST_SLOTS);
  let size = 0;

  function slotOf(record: number, environment: number): number {
    const mask = slots.length - 1;
    let slot = hash(record, environment) & mask;
    for (;;) {
      const found = slots[slot] ?? 0;
      if (found === 0) return slot;
      const at = (found - 1) * FIELDS;
      if (fields[at] === record && fields[at + 1] === environment) return slot;
      slot = (slot + 1) & mask;
    }
  }

  function grow(): void {
    slots = new Int32Array(slots.length * 2);
    const larger = new Int32Array(fields.length * 2);
    larger.set(fields);
    fields = larger;
    for (let state = 0; state < size; state += 1) {
      slots[slotOf(read(state, 0), read(state, 1))] = state + 1;
    }
  }

  const read = (state: number, field: number): number => fields[state * FIELDS + field] ?? 0;
  return {
    size: () => size,
    add: (record, environment, parent, action) => {
      const slot = slotOf(record, environment);
      const found = slots[slot] ?? 0;
      if (found !== 0) return found - 1;
      const at = size * FIELDS;
      fields[at] = record;
      fields[at + 1] = environment;
      fields[at + 2] = parent;
      fields[at + 3] = action();
      size += 1;
      slots[slot] = size;
      if (size * 2 > slots.length) grow();
      return size - 1;
    },
    record: (state) => read(state, 0),
    environment: (state) => read(state, 1),
    parent: (state) => read(state, 2),
    action: (state) => read(state, 3),
  };
}

function hash(record: number, environment: number): number {
  const mixed = Math.imul(record, 0x9e3779b1) ^ Math.imul(environment, 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

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

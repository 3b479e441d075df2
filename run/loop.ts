import type { At, CallRef, Hint, Next, OpenCalls, RunInput } from '../protocol/run.js';

type Model = Extract<Next, { do: 'model' }>;

/** What carries a run out: a workflow, an activity for a leg of it, or one process. Each piece of work replies with what the record says after it. */
export interface Host {
  now: () => number;
  /** Waits until it holds; false if that takes longer than so many ms. */
  until: (holds: () => boolean, ms?: number) => Promise<boolean>;
  /** Something may hold now. Hosts whose `until` finds that out by itself need none. */
  changed?: () => void;
  /** Set where it hands over what it does not take, and what has to wait. Asked while nothing is in progress. */
  takes?: (next: Next) => boolean;
  /** False for a call that is left where it is. */
  mayBegin?: (call: CallRef) => boolean;
  /** Something may be done between two pieces of work, before the next begins. */
  between?: (at: At) => Promise<void>;
  /** Carries a run on by itself as far as it can, if it can from here. */
  leg?: (at: At) => (() => Promise<At>) | undefined;
  model: (next: Model) => Promise<At>;
  call: (call: CallRef, step: number) => Promise<At>;
  child: (call: CallRef, step: number) => Promise<At>;
  end: (next: Extract<Next, { do: 'end' }>) => Promise<At>;
  /** Reads the record, once what is due was settled. */
  look: () => Promise<At>;
  /** The run is over, and with it sub-agents that are in progress. */
  over?: (children: readonly CallRef[]) => void;
  show?: (view: View) => void;
}

/** How far a run is. */
export interface View {
  next: Next;
  /** Calls in progress, and those that wait: for people, or whose tools do. */
  working: readonly CallRef[];
  people: readonly CallRef[];
  asleep: readonly CallRef[];
}

export interface Loop {
  /** Carries the run on until it is over, or the host hands over. @throws what the host throws */
  run: () => Promise<At>;
  /** Lets it read its record again; with a hint, which a person may have written, it may begin work at once. */
  look: (hint?: Hint | null) => void;
  /** Takes what the record said to others. */
  adopt: (at: At) => void;
  at: () => At;
  /** The newest that it has seen: a record that is behind it was restored from a copy. */
  known: () => { version: number; sequence: number };
  isBusy: () => boolean;
}

type Cap = Pick<RunInput, 'maxSteps' | 'hasOutput'>;

/** Calls of one step that are executed at once: as many that the model asked for, as many that have waited. */
const CALLS_AT_ONCE = 10;
/** The clocks of store and host differ. */
const LEAST_MS = 10;
/** What people have not been asked yet is looked at less and less often, up to this: each look stays in a history. */
const UNASKED_LIMIT_MS = 10 * 60_000;
/** Keys of what is in progress and is no call. */
const [STEP, END] = [' step', ' end'];

/** Where a run begins: with its first step, or by looking at a record that knows more. */
export function beginningOf({ from, startAt }: RunInput, now: number): At {
  const { step = 0, known: sequence = 0, version = 0 } = from ?? {};
  const dueInMs = Math.max((startAt ?? 0) - now, 0);
  const next: Next =
    version > 0 || dueInMs > 0
      ? { do: 'open', step, dueInMs }
      : { do: 'model', step: step + 1, isFirst: true };
  return { version, sequence, next };
}

/**
 * The step cap ends a run as completed: finished work is kept. An agent that owes a result is asked for it once more,
 * and for nothing else. A run that continues a turn makes one step in any case.
 */
export function withinCap(next: Next, { maxSteps, hasOutput }: Cap): Next {
  if (next.do !== 'model') return next;
  const { step, isFirst, mustFinish } = next;
  if (step <= maxSteps && mustFinish !== true) return next;
  if (hasOutput === true) return { ...next, mustFinish: true };
  return isFirst === true ? next : { do: 'end', step: step - 1 };
}

/**
 * Carries a run on: begins what its record says and waits for a reply, a wish to look, or a time. It keeps the newest
 * that the record has said and what is in progress, and decides nothing.
 */
export function createLoop(host: Host, cap: Cap, first: At): Loop {
  let at = first;
  const known = { version: first.version, sequence: first.sequence };
  /** What is known of the calls of a step; nothing in it changes. */
  const refs = new Map<string, CallRef>();
  const sought = new Set<string>();
  const busy = new Map<string, CallRef | undefined>();
  /** The version at which each piece of work was begun, or its step: none is begun twice at the same. */
  const begun = new Map<string, number | string>();
  /** Calls that were waiting when the record was last read. */
  const waited = new Set<string>();
  let [news, asked, patience] = [0, 0, 1];
  let hint: At | undefined;
  /** The newest version of which it has heard only by hints. */
  let heard = 0;
  let [mustLook, isPartial, isHurried] = [first.version > 0, false, false];
  let hasReplied = first.version > 0;
  let failure: { error: unknown } | undefined;
  let due = dueOf(first.next);
  learn(first.next);

  function changed(): void {
    news += 1;
    host.changed?.();
  }

  function dueOf(next: Next): number | undefined {
    if (next.do !== 'open' || next.dueInMs === undefined) return undefined;
    const { dueInMs, isUnasked } = next;
    const longer = Math.max(dueInMs, Math.min(dueInMs * patience, UNASKED_LIMIT_MS));
    return host.now() + (isUnasked === true ? longer : dueInMs);
  }

  function learn(next: Next): void {
    if (next.do === 'open') for (const call of next.calls ?? []) refs.set(call.toolCallId, call);
  }

  /** False for what is older than what it knows. */
  function adopt({ version, sequence, next: said, isBehind }: At): boolean {
    hasReplied = true;
    known.version = Math.max(known.version, version);
    known.sequence = Math.max(known.sequence, sequence);
    const isReplaced = said.do === 'done' && said.status === 'superseded';
    const next = isReplaced ? { ...said, step: committedOf(at.next) } : said;
    learn(next);
    changed();
    if (version < heard) mustLook = true;
    // What is over stays over, also in a record that was restored from a copy.
    if ((isBehind === true || version < at.version) && next.do !== 'done') return false;
    isPartial = next.do === 'open' && next.isPartial === true;
    // The lists that are known stay; of what is in them nothing is begun twice.
    if (isPartial && at.next.do === 'open' && at.next.step === next.step) return true;
    leaveSubAgents(next);
    if (next.step !== at.next.step) waited.clear();
    if (next.do !== 'open' || next.isUnasked !== true) patience = 1;
    at = { version, sequence, next };
    // What came between lets a step begin again that was begun too early.
    if (next.do === 'open' && typeof begun.get(STEP) === 'string') begun.delete(STEP);
    due = dueOf(next);
    const { people = [], asleep = [] }: Partial<OpenCalls> = next.do === 'open' ? next : {};
    for (const id of [...people, ...asleep]) waited.add(id);
    return true;
  }

  /** A run that was reset is not told of the end of a sub-agent which its record has settled. */
  function leaveSubAgents(next: Next): void {
    const { children = [] }: Partial<OpenCalls> = next.do === 'open' ? next : {};
    const left = [...busy].filter(
      ([id, call]) => call?.kind === 'subagent' && !children.includes(id),
    );
    for (const [id] of left) busy.delete(id);
    if (next.do === 'done') host.over?.(left.flatMap(([, call]) => call ?? []));
  }

  function perform(key: string, call: CallRef | undefined, work: () => Promise<At>): void {
    const { do: what, step } = at.next;
    // A step that was not committed is ended by somebody else, whom a further attempt would hold up.
    const mark = what === 'model' ? `step ${String(step)}` : at.version;
    if (busy.has(key) || begun.get(key) === mark) return;
    begun.set(key, mark);
    busy.set(key, call);
    void work()
      .then((said) => {
        busy.delete(key);
        // The record was restored from a copy, or replies came in another order: nothing else tells which.
        const isOlder = !adopt(said) && (key === STEP || at.next.do === 'open');
        if (isOlder && busy.size === 0) mustLook = true;
      })
      .catch((error: unknown) => {
        busy.delete(key);
        failure ??= { error };
      })
      .then(changed);
  }

  /** A hint ends no run, and is of no version: the reply to what is begun says how the record is. */
  function follow(hinted: Next): void {
    if (at.next.do !== 'open' || withinCap(hinted, cap).do === 'end') mustLook = true;
    else if (hinted.do !== 'open') {
      begun.delete(STEP);
      at = { ...at, next: hinted };
    } else {
      const { machine = [] } = hinted;
      for (const key of [STEP, ...machine]) begun.delete(key);
      const rest = (ids: readonly string[] = []): string[] =>
        ids.filter((id) => !machine.includes(id));
      const { people, asleep } = at.next;
      const lists = { people: rest(people), asleep: rest(asleep) };
      const all = [...(at.next.machine ?? []), ...machine];
      at = { ...at, next: { ...at.next, ...lists, machine: [...new Set(all)] } };
    }
  }

  function begin(next: Next): void {
    if (failure !== undefined) return;
    // A step begins once the replies of all calls before it are there.
    if (next.do === 'done' || busy.has(STEP) || (next.do !== 'open' && busy.size > 0)) return;
    const leg = busy.size === 0 ? host.leg?.({ ...at, next: described(next) }) : undefined;
    if (leg !== undefined) perform(STEP, undefined, leg);
    else if (next.do === 'model') {
      if (host.leg === undefined) perform(STEP, undefined, () => host.model(next));
    } else if (next.do === 'end') perform(END, undefined, () => host.end(next));
    else beginCalls(next);
  }

  function beginCalls({ step, children = [], machine = [] }: OpenCalls): void {
    for (const id of children) {
      const call = refOf(id);
      if (call !== undefined) perform(id, call, () => host.child(call, step));
    }
    for (const id of machine) {
      const call = refOf(id);
      if (call === undefined || host.mayBegin?.(call) === false) continue;
      if (atWork(waited.has(id)) < CALLS_AT_ONCE) perform(id, call, () => host.call(call, step));
    }
  }

  function isBusy(): boolean {
    return [...busy.values()].some((call) => call?.kind !== 'subagent');
  }

  function atWork(hasWaited: boolean): number {
    const calls = [...busy].filter(([, call]) => call !== undefined && call.kind !== 'subagent');
    return calls.filter(([id]) => waited.has(id) === hasWaited).length;
  }

  /** Whoever looks is told of all open calls. */
  function refOf(id: string): CallRef | undefined {
    const call = refs.get(id);
    if (call === undefined && !sought.has(id)) mustLook = true;
    if (call === undefined) sought.add(id);
    return call;
  }

  function refsOf(ids: readonly string[] = []): CallRef[] {
    return ids.flatMap((id) => refs.get(id) ?? []);
  }

  /** As others need it, who do not know the calls. */
  function described(next: Next): Next {
    if (next.do !== 'open') return next;
    const { machine = [], children = [], people = [], asleep = [] } = next;
    return { ...next, calls: refsOf([...machine, ...children, ...people, ...asleep]) };
  }

  /** The record of a sub-agent is made by its first step: until that has replied there may be none to read. */
  function mayLook(): boolean {
    return hasReplied || at.next.do !== 'model' || isHurried;
  }

  /** What was left out of the lists may be something to begin. */
  function wantsLook(): boolean {
    return mayLook() && (mustLook || asked > 0 || (isPartial && busy.size === 0));
  }

  function show(next: Next): void {
    const lists: Partial<OpenCalls> = next.do === 'open' ? next : {};
    const resting = (ids: readonly string[] = []): CallRef[] =>
      refsOf(ids.filter((id) => !busy.has(id)));
    host.show?.({
      next,
      working: busy.has(STEP)
        ? refsOf(lists.machine)
        : [...busy.values()].flatMap((call) => call ?? []),
      people: resting(lists.people),
      asleep: resting(lists.asleep),
    });
  }

  async function run(): Promise<At> {
    for (;;) {
      if (at.next.do === 'done') {
        if (busy.size === 0 || isHurried) return at;
        await host.until(() => busy.size === 0 || isHurried);
        continue;
      }
      // Another attempt could run beside what is in progress, but for sub-agents, which have records of their own.
      if (failure !== undefined && !isBusy()) throw failure.error;
      if (wantsLook()) {
        // What was begun in vain may be begun again when somebody asks for it.
        if (asked > 0 && busy.size === 0) begun.clear();
        [mustLook, isPartial, asked, heard] = [false, false, 0, 0];
        adopt(await host.look());
        continue;
      }
      if (hint !== undefined && hint.version > at.version) {
        heard = Math.max(heard, hint.version);
        follow(hint.next);
      }
      hint = undefined;
      const seen = news;
      const next = withinCap(at.next, cap);
      if (busy.size === 0) {
        if (host.takes?.(described(next)) === false) return { ...at, next: described(next) };
        if (host.between !== undefined) await host.between(at);
      }
      begin(next);
      // What begins may find that it has to look.
      if (wantsLook() || news !== seen) continue;
      if (busy.size === 0 && host.takes !== undefined) return { ...at, next: described(next) };
      show(next);
      const isEarly = next.do === 'open' && next.isUnasked === true && busy.size > 0;
      const ms = due === undefined || isEarly ? undefined : Math.max(due - host.now(), LEAST_MS);
      if (await host.until(() => news !== seen, ms)) continue;
      patience *= 2;
      mustLook = true;
    }
  }

  return {
    run,
    adopt,
    look: (given) => {
      const { at: said, ended } = given ?? {};
      isHurried ||= ended === true;
      const told = toHeard(said);
      const isOpen = at.next.do === 'open';
      if (told === undefined || !isOpen || told.next.step !== stepAfter(at, told)) asked += 1;
      else if (told.version > Math.max(at.version, hint?.version ?? 0)) hint = told;
      changed();
    },
    at: () => at,
    known: () => known,
    isBusy,
  };
}

function committedOf({ do: what, step }: Next): number {
  return what === 'model' ? step - 1 : step;
}

/** The step that a hint has to be about: the one whose calls are open, or that which follows it. */
function stepAfter({ next: { step } }: At, { next }: At): number {
  return next.do === 'model' ? step + 1 : step;
}

/** Of a hint only what begins work counts; anybody who may signal the run may have written it. */
function toHeard(said: unknown): At | undefined {
  const { version, next } = (said ?? {}) as Partial<At>;
  if (!Number.isSafeInteger(version) || version === undefined) return undefined;
  const given = (next ?? {}) as Omit<Partial<OpenCalls>, 'do'> & { do?: unknown };
  const { step } = given;
  if (!Number.isSafeInteger(step) || step === undefined) return undefined;
  const base = { version, sequence: 0 };
  // Whether the model has to hand in its result is told by the claim.
  if (given.do === 'model') return { ...base, next: { do: 'model', step } };
  if (given.do !== 'open' || !Array.isArray(given.machine)) return undefined;
  const machine = given.machine.filter((id): id is string => typeof id === 'string');
  return machine.length === 0 ? undefined : { ...base, next: { do: 'open', step, machine } };
}

/** True for what an activity for a whole leg of the run takes: calls of which none needs people or the workflow. */
export function isForLeg(next: Next, isOut: (call: CallRef) => boolean = needsWorkflow): boolean {
  if (next.do !== 'open') return next.do !== 'done';
  const { machine = [], children = [], people = [], asleep = [], calls = [] } = next;
  if ([children, people, asleep].some(({ length }) => length > 0)) return false;
  return machine.length > 0 && !calls.some((call) => isOut(call));
}

/** True for calls that no such activity executes. */
export function needsWorkflow({ kind, activity }: Pick<CallRef, 'kind' | 'activity'>): boolean {
  return kind === 'subagent' || activity !== undefined;
}

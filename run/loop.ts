import type { At, CallRef, Hint, Next, OpenCalls, RunInput } from '../protocol/run.js';

type Model = Extract<Next, { do: 'model' }>;

/**
 * Executes a run's work: a workflow, a leg's activity, or a single process. Each piece of work
 * returns the record's state after it.
 */
export interface Host {
  now: () => number;
  /** Waits until the condition holds; returns false after `ms` milliseconds. */
  until: (holds: () => boolean, ms?: number) => Promise<boolean>;
  /** Tells `until` to check its condition again. Temporal's `condition` needs no such call. */
  changed?: () => void;
  /**
   * Returns false for work that the host hands over. A host with this member never waits; the loop
   * asks while no work is in progress.
   */
  takes?: (next: Next) => boolean;
  /** Returns false for a call that the host must not begin. */
  mayBegin?: (call: CallRef) => boolean;
  /** Runs between two pieces of work, while none is in progress. */
  between?: (at: At) => Promise<void>;
  /** Returns work that carries the run on through several steps, or undefined if a leg cannot start here. */
  leg?: (at: At) => (() => Promise<At>) | undefined;
  model: (next: Model) => Promise<At>;
  call: (call: CallRef, step: number) => Promise<At>;
  child: (call: CallRef, step: number) => Promise<At>;
  end: (next: Extract<Next, { do: 'end' }>) => Promise<At>;
  /** Settles overdue calls, then reads the record. */
  look: () => Promise<At>;
  /** Called once the run has ended, with the sub-agents that were still in progress. */
  over?: (children: readonly CallRef[]) => void;
  show?: (view: View) => void;
}

/** The state of a run as operators see it. */
export interface View {
  next: Next;
  /** Calls in progress, calls that wait for people, and calls that wait for a webhook. */
  working: readonly CallRef[];
  people: readonly CallRef[];
  asleep: readonly CallRef[];
}

export interface Loop {
  /** Carries the run on until it ends or the host hands it over. @throws errors of the host */
  run: () => Promise<At>;
  /** Lets the run read its record again, or begin the work that a valid hint names. Hints are untrusted. */
  look: (hint?: Hint | null) => void;
  /** Takes over a state of the record that a handler has read. */
  adopt: (at: At) => void;
  /** Newest version and sequence seen. A record behind them was restored from an older copy. */
  known: () => { version: number; sequence: number };
  isBusy: () => boolean;
}

type Cap = Pick<RunInput, 'maxSteps' | 'hasOutput'>;

/** Concurrent calls of one step; approved calls have an equal number of places of their own. */
const CALLS_AT_ONCE = 10;
/** Shortest timer: the clocks of store and host differ slightly. */
const MIN_MS = 10;
/** Key in `busy` for work that is not a call. */
const STEP = ' step';

/**
 * Returns the state from which a run begins: its first step, or a look at the record if it
 * continues or starts later.
 */
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
 * Applies the step cap: the run ends as completed, since finished work is kept. An agent with an output schema gets one
 * more step in which it may only submit its result. A run that continues a turn makes at least one step.
 */
export function withinCap(next: Next, { maxSteps, hasOutput }: Cap): Next {
  if (next.do !== 'model') return next;
  const { step, isFirst, mustFinish } = next;
  if (step <= maxSteps && mustFinish !== true) return next;
  if (hasOutput === true) return { ...next, mustFinish: true };
  return isFirst === true ? next : { do: 'end', step: step - 1 };
}

/**
 * Carries a run on: begins the work that its record asks for, then waits for a reply, a look, or a deadline. The loop
 * keeps the newest state of the record and the work in progress. Every decision is made by `nextOf` in `session/`.
 */
export function createLoop(host: Host, cap: Cap, first: At): Loop {
  let at = first;
  const known = { version: first.version, sequence: first.sequence };
  /** Immutable facts about each call, by id. */
  const refs = new Map<string, CallRef>();
  const busy = new Map<string, CallRef | undefined>();
  /** Version, or step, at which each piece of work was last begun. Prevents a second begin at the same one. */
  const begun = new Map<string, number | string>();
  /** Newest version known only from hints, since the last look. */
  let hintedVersion = 0;
  let news = 0;
  let mustLook = first.version > 0;
  let isAsked = false;
  /** True once the record has ended the run during a wait for its provider. */
  let isEndedElsewhere = false;
  let failure: { error: unknown } | undefined;
  let due = dueOf(first.next);

  function changed(): void {
    news += 1;
    host.changed?.();
  }

  function dueOf(next: Next): number | undefined {
    return next.do === 'open' && next.dueInMs !== undefined ? host.now() + next.dueInMs : undefined;
  }

  function learn(next: Next): void {
    if (next.do === 'open') for (const call of next.calls ?? []) refs.set(call.toolCallId, call);
  }

  /** Returns false for a state older than the one known. */
  function adopt({ version, sequence, next: state }: At): boolean {
    known.version = Math.max(known.version, version);
    known.sequence = Math.max(known.sequence, sequence);
    const isReplaced = state.do === 'done' && state.status === 'superseded';
    const next = isReplaced ? { ...state, step: committedOf(at.next) } : state;
    learn(next);
    changed();
    if (version < hintedVersion) mustLook = true;
    // An ended run stays ended even if Redis was restored from an older copy.
    if (version < at.version && next.do !== 'done') return false;
    if (next.do === 'open' && next.isPartial === true) {
      // Without lists in the reply the known ones stay valid, while work goes on.
      if (busy.size === 0 || at.next.do !== 'open' || at.next.step !== next.step) mustLook = true;
      return true;
    }
    leaveSubAgents(next);
    at = { version, sequence, next };
    // The step had begun too early; it may begin again after the open calls.
    if (next.do === 'open' && typeof begun.get(STEP) === 'string') begun.delete(STEP);
    due = dueOf(next);
    return true;
  }

  /** Forgets sub-agents whose calls the record has settled: after a reset, no report of their end arrives. */
  function leaveSubAgents(next: Next): void {
    const { children = [] }: Partial<OpenCalls> = next.do === 'open' ? next : {};
    const left = [...busy].filter(([id, call]) => isSubAgent(call) && !children.includes(id));
    for (const [id] of left) busy.delete(id);
    if (next.do === 'done') host.over?.(left.flatMap(([, call]) => call ?? []));
  }

  function perform(key: string, call: CallRef | undefined, work: () => Promise<At>): void {
    const { do: what, step } = at.next;
    // A model step that returns uncommitted is being ended by another writer; a second attempt would only delay that.
    const mark = what === 'model' ? `step ${String(step)}` : at.version;
    if (busy.has(key) || begun.get(key) === mark) return;
    begun.set(key, mark);
    busy.set(key, call);
    void work()
      .then((state) => {
        busy.delete(key);
        // Either the record was restored from an older copy or replies arrived out of order. Only a look can tell.
        const isOlder = !adopt(state) && (key === STEP || at.next.do === 'open');
        if (isOlder && busy.size === 0) mustLook = true;
      })
      .catch((error: unknown) => {
        busy.delete(key);
        failure ??= { error };
      })
      .then(changed);
  }

  /**
   * Takes over the hinted work. A hint never ends a run or sets the version; the reply to the work
   * brings the record's state.
   */
  function follow(open: OpenCalls, hinted: Next): void {
    if (hinted.do !== 'open') {
      at = { ...at, next: hinted };
      return;
    }
    const { machine = [] } = hinted;
    for (const key of [STEP, ...machine]) begun.delete(key);
    const rest = (ids: readonly string[] = []): string[] =>
      ids.filter((id) => !machine.includes(id));
    const lists = { people: rest(open.people), asleep: rest(open.asleep) };
    const all = [...(open.machine ?? []), ...machine];
    at = { ...at, next: { ...open, ...lists, machine: [...new Set(all)] } };
  }

  function look(given?: Hint | null): void {
    const { at: state, ended } = given ?? {};
    isEndedElsewhere ||= ended === true;
    const told = parseHint(state);
    const { next } = at;
    const isUsable =
      told !== undefined &&
      next.do === 'open' &&
      told.next.step === stepAfter(next, told.next) &&
      isKnown(told.next) &&
      withinCap(told.next, cap).do !== 'end';
    if (!isUsable) isAsked = true;
    else if (told.version > Math.max(at.version, hintedVersion)) {
      hintedVersion = told.version;
      follow(next, told.next);
    }
    changed();
  }

  /** Returns true if the record has named all calls of a hint. */
  function isKnown(hinted: Next): boolean {
    return hinted.do !== 'open' || (hinted.machine ?? []).every((id) => refs.has(id));
  }

  function begin(next: Next): void {
    if (failure !== undefined) return;
    // A step begins only after all calls before it have replied.
    if (next.do === 'done' || busy.has(STEP) || (next.do !== 'open' && busy.size > 0)) return;
    const leg = busy.size === 0 ? host.leg?.({ ...at, next: described(next) }) : undefined;
    if (leg !== undefined) perform(STEP, undefined, leg);
    else if (next.do === 'model') perform(STEP, undefined, () => host.model(next));
    else if (next.do === 'end') perform(STEP, undefined, () => host.end(next));
    else beginCalls(next);
  }

  function beginCalls({ step, children = [], machine = [] }: OpenCalls): void {
    for (const id of [...children, ...machine]) {
      const call = refs.get(id);
      if (call === undefined) seek(id);
      else if (isSubAgent(call)) perform(id, call, () => host.child(call, step));
      else if (host.mayBegin?.(call) !== false && hasPlace(call))
        perform(id, call, () => host.call(call, step));
    }
  }

  /** Looks for an unknown call, once in each state of the record: the reply to a look names all open calls. */
  function seek(id: string): void {
    const key = `look for ${id}`;
    if (begun.get(key) === at.version) return;
    begun.set(key, at.version);
    mustLook = true;
  }

  /** Approved calls do not wait for others that last. */
  function hasPlace({ kind }: CallRef): boolean {
    const isApproved = kind === 'approval';
    const calls = [...busy.values()].flatMap((call) => call ?? []);
    const alike = calls.filter(
      (call) => !isSubAgent(call) && (call.kind === 'approval') === isApproved,
    );
    return alike.length < CALLS_AT_ONCE;
  }

  function isBusy(): boolean {
    return [...busy.values()].some((call) => !isSubAgent(call));
  }

  function refsOf(ids: readonly string[] = []): CallRef[] {
    return ids.flatMap((id) => refs.get(id) ?? []);
  }

  /** Adds the facts about the calls for hosts that do not know them. */
  function described(next: Next): Next {
    if (next.do !== 'open') return next;
    const { machine = [], children = [], people = [], asleep = [] } = next;
    return { ...next, calls: refsOf([...machine, ...children, ...people, ...asleep]) };
  }

  /** A sub-agent's first step creates its record, so there may be none to read before that step replies. */
  function wantsLook(): boolean {
    const mayLook = known.version > 0 || at.next.do !== 'model' || isEndedElsewhere;
    return mayLook && (mustLook || isAsked);
  }

  function show(next: Next): void {
    const lists: Partial<OpenCalls> = next.do === 'open' ? next : {};
    host.show?.({
      next,
      working: busy.has(STEP)
        ? refsOf(lists.machine)
        : [...busy.values()].flatMap((call) => call ?? []),
      people: refsOf(lists.people),
      asleep: refsOf(lists.asleep),
    });
  }

  async function run(): Promise<At> {
    for (;;) {
      if (at.next.do === 'done') {
        if (busy.size === 0 || isEndedElsewhere) return at;
        await host.until(() => busy.size === 0 || isEndedElsewhere);
        continue;
      }
      // Work in progress ends before the failure is thrown, so that no retry overlaps it. Sub-agents
      // may go on, since they have records of their own.
      if (failure !== undefined && !isBusy()) throw failure.error;
      if (wantsLook()) {
        // A requested look also permits work to begin again that was begun without effect.
        if (isAsked && busy.size === 0) begun.clear();
        mustLook = false;
        isAsked = false;
        hintedVersion = 0;
        adopt(await host.look());
        continue;
      }
      const seen = news;
      const next = withinCap(at.next, cap);
      if (busy.size === 0) {
        if (host.takes?.(described(next)) === false) return { ...at, next: described(next) };
        if (host.between !== undefined) await host.between(at);
      }
      begin(next);
      // `begin` may have found an unknown call.
      if (wantsLook() || news !== seen) continue;
      if (busy.size === 0 && host.takes !== undefined) return { ...at, next: described(next) };
      show(next);
      const ms = due === undefined ? undefined : Math.max(due - host.now(), MIN_MS);
      if (!(await host.until(() => news !== seen, ms))) mustLook = true;
    }
  }

  return { run, adopt, look, known: () => known, isBusy };
}

function isSubAgent(call: CallRef | undefined): boolean {
  return call?.kind === 'subagent';
}

function committedOf({ do: what, step }: Next): number {
  return what === 'model' ? step - 1 : step;
}

/** Returns the only step that a hint may name: the one with open calls or, for a model step, the next one. */
function stepAfter({ step }: OpenCalls, hinted: Next): number {
  return hinted.do === 'model' ? step + 1 : step;
}

/** Reads the work to begin from a hint. Anyone who may signal the run can forge one, so everything else is ignored. */
function parseHint(state: unknown): At | undefined {
  const { version, next } = (state ?? {}) as Partial<At>;
  if (typeof version !== 'number') return undefined;
  const given = (next ?? {}) as Omit<Partial<OpenCalls>, 'do'> & { do?: unknown };
  const { step = -1, machine } = given;
  const base = { version, sequence: 0 };
  // The step's claim tells whether the model must submit its result.
  if (given.do === 'model') return { ...base, next: { do: 'model', step } };
  if (given.do !== 'open' || !Array.isArray(machine) || machine.length === 0) return undefined;
  return { ...base, next: { do: 'open', step, machine } };
}

/** Returns true if a leg's activity can carry on from here: no open call needs people or the workflow. */
export function isForLeg(next: Next, isOut: (call: CallRef) => boolean = needsWorkflow): boolean {
  if (next.do !== 'open') return next.do !== 'done';
  const { machine = [], children = [], people = [], asleep = [], calls = [] } = next;
  if ([children, people, asleep].some(({ length }) => length > 0)) return false;
  return machine.length > 0 && !calls.some((call) => isOut(call));
}

/** Returns true for calls that a leg's activity never executes. */
export function needsWorkflow({ kind, activity }: Pick<CallRef, 'kind' | 'activity'>): boolean {
  return kind === 'subagent' || activity !== undefined;
}

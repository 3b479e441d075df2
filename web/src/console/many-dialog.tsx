import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { actOnEach, isNothingToDo, SUITED } from '../../../protocol/act-on-each.js';
import type { OperatorRuns } from '../../../protocol/operator.js';
import type { RunStatus } from '../../../protocol/run.js';
import { toWords } from '../../../protocol/shown-call.js';
import { sleep } from '../../../protocol/time.js';
import { Refusal } from '../api-client.js';
import { Modal } from '../modal.js';
import { ConfirmDialog } from './confirm-dialog.js';
import { act as post, read, runPath } from './console-api.js';
import { ProblemNote } from './problem-note.js';

type ManyAct = 'stop' | 'retry' | 'approve' | 'deny';

interface Words {
  title: string;
  verb: string;
  /** One of what it acts on, and several. */
  things: readonly [one: string, many: string];
  nothing: string;
  /** What a person should know before. */
  caution?: string;
}

const GONE = 'There is nothing to do: the runs have other statuses by now.';
const ANSWERED = 'There is nothing to do: the questions are answered by now.';

/** What an act on many is called before it begins. */
const MANY_WORDS: Record<ManyAct, Words> = {
  stop: { title: 'Stop these runs?', verb: 'Stop', things: ['run', 'runs'], nothing: GONE },
  retry: {
    title: 'Repeat the turns of these runs?',
    verb: 'Repeat',
    things: ['run', 'runs'],
    nothing: GONE,
    caution: 'Their tools may run again, with what they do outside.',
  },
  approve: {
    title: 'Approve these calls?',
    verb: 'Approve',
    things: ['call', 'calls'],
    nothing: ANSWERED,
    caution: 'Each is carried out as it was asked, without changes.',
  },
  deny: {
    title: 'Deny these calls?',
    verb: 'Deny',
    things: ['call', 'calls'],
    nothing: ANSWERED,
    caution: 'The agents read the reason.',
  },
};

/** Codes of refusals as people read them. */
const PROBLEM_WORDS: Record<string, string> = {
  not_allowed: 'not yours to decide',
  unavailable: 'the server did not answer',
};

/** Pure. */
function describeProblemCode(code: string): string {
  return PROBLEM_WORDS[code] ?? code.replaceAll('_', ' ');
}

/** Pure. */
function describePlan(act: ManyAct, total: number): string {
  const { things, nothing } = MANY_WORDS[act];
  return total === 0 ? nothing : `This is about ${String(total)} ${things[total === 1 ? 0 : 1]}.`;
}

const SHOWN = 20;
const PROBLEMS_SHOWN = 20;
const PAGE = 100;
/** Limits count requests per minute. */
const WAIT_MS = 5_000;

/** A run, or a call of it, to act on. */
export interface Target {
  runId: string;
  agent?: string | undefined;
  owner?: string | undefined;
  sessionId?: string | undefined;
  /** Of a run, as the page shows it. */
  status?: RunStatus | undefined;
  toolCallId?: string;
  toolName?: string;
  approvalId?: string;
  /** Of the input that the page shows. */
  inputHash?: string;
}

interface Props {
  act: ManyAct;
  of: { filter: Record<string, string> } | { targets: readonly Target[] };
  onClose: () => void;
}

/** One act on many runs or calls, a request for each: which they are, whether it shall be, and how far it is. */
export function ManyDialog({ act, of, onClose }: Props): ReactElement {
  const [confirmed, setConfirmed] = useState<Confirmed>();
  // What was there when the dialog opened is what is confirmed.
  const [asked] = useState(of);
  const plan = useQuery({
    queryKey: ['plan', act, asked],
    queryFn: ({ signal }) =>
      'targets' in asked
        ? asked.targets.filter(({ status }) => isSuited(act, status))
        : findRuns(act, asked.filter, signal),
    refetchOnWindowFocus: false,
    placeholderData: undefined,
    gcTime: 0,
    staleTime: Infinity,
  });
  const targets = plan.data;
  const { title, verb, caution } = MANY_WORDS[act];

  if (confirmed !== undefined) return <ManyProgress confirmed={confirmed} onClose={onClose} />;
  return (
    <ConfirmDialog
      title={title}
      verb={targets === undefined ? verb : `${verb} ${String(targets.length)}`}
      ready={targets !== undefined && targets.length > 0}
      needsReason={act === 'deny'}
      stays
      onConfirm={(reason) => {
        setConfirmed({ id: crypto.randomUUID(), act, targets: targets ?? [], reason });
        return Promise.resolve();
      }}
      onClose={onClose}
    >
      {plan.isPending && <p role="status">Counting…</p>}
      <ProblemNote error={plan.error} what="The list" />
      {targets !== undefined && (
        <div data-testid="plan">
          <p>{describePlan(act, targets.length)}</p>
          {caution !== undefined && <p>{caution}</p>}
          <ul className="plain-list">
            {targets.slice(0, SHOWN).map((target) => (
              <li key={nameOf(target)}>{describeTarget(target)}</li>
            ))}
          </ul>
          {targets.length > SHOWN && <p>… and {targets.length - SHOWN} more.</p>}
        </div>
      )}
    </ConfirmDialog>
  );
}

interface Confirmed {
  /** Of its requests: one that is sent again is the same. */
  id: string;
  act: ManyAct;
  targets: readonly Target[];
  reason: string | undefined;
}

interface Counts {
  done: number;
  skipped: number;
  problems: { target: string; code: string }[];
}

/** Sends the requests while it is shown; it ends behind those that are under way. */
function ManyProgress({
  confirmed,
  onClose,
}: {
  confirmed: Confirmed;
  onClose: () => void;
}): ReactElement {
  const { targets } = confirmed;
  const end = useRef<() => void>(() => undefined);
  const queries = useQueryClient();
  const [counts, setCounts] = useState<Counts>({ done: 0, skipped: 0, problems: [] });
  const [isRunning, setRunning] = useState(true);
  const { done, skipped, problems } = counts;
  const tried = done + skipped + problems.length;

  useEffect(() => {
    let isOver = false as boolean;
    let isShown = true as boolean;
    end.current = () => {
      isOver = true;
    };
    const sums: Counts = { done: 0, skipped: 0, problems: [] };
    const sendAll = async (): Promise<void> => {
      // The first turn is behind this effect: one that is cleaned up at once sends nothing.
      await Promise.resolve();
      const ended = (): boolean => isOver || !isShown;
      const send = (target: Target) => perform(confirmed, target, ended);
      const outcomes = actOnEach(confirmed.targets, send, ended);
      for await (const { target, code, isAway } of outcomes) {
        if (code === undefined) sums.done += 1;
        else if (isNothingToDo(code)) sums.skipped += 1;
        else sums.problems.push({ target, code });
        isOver ||= isAway;
        setCounts({ ...sums, problems: [...sums.problems] });
      }
      if (isShown) setRunning(false);
      for (const list of ['runs', 'waiting']) void queries.invalidateQueries({ queryKey: [list] });
    };
    void sendAll();
    return () => {
      isShown = false;
    };
  }, [confirmed, queries]);

  return (
    <Modal className="confirm" title={isRunning ? 'Under way' : 'It is over'} onClose={onClose}>
      <progress max={Math.max(targets.length, 1)} value={tried} aria-label="Progress" />
      <p role="status" data-testid="many" data-status={isRunning ? 'running' : 'over'}>
        {done} of {targets.length} done, {skipped} skipped, {problems.length} failed.
        {!isRunning && tried < targets.length && ` ${String(targets.length - tried)} are left.`}
      </p>
      {problems.length > 0 && (
        <ul className="plain-list" data-testid="many-problems">
          {problems.slice(0, PROBLEMS_SHOWN).map(({ target, code }) => (
            <li key={target}>
              {target}: {describeProblemCode(code)}
            </li>
          ))}
        </ul>
      )}
      <div className="acts">
        {isRunning && (
          <button
            type="button"
            data-testid="end-many"
            onClick={() => {
              end.current();
            }}
          >
            End it here
          </button>
        )}
        <button type="button" data-testid="close" onClick={onClose}>
          Close
        </button>
      </div>
    </Modal>
  );
}

async function findRuns(
  act: ManyAct,
  filter: Record<string, string>,
  signal: AbortSignal,
): Promise<Target[]> {
  const found = new Map<string, Target>();
  // Asked by status: most runs of a long time have ended well, and are none of these.
  const statuses = statusesOf(act).filter((each) => (filter.status ?? each) === each);
  for (const status of statuses) {
    let cursor: string | undefined;
    do {
      const query = { ...filter, status, limit: PAGE, cursor };
      const page = await read<OperatorRuns>('/operator/runs', { query, signal });
      for (const run of page.runs) {
        if (run.subAgent !== true && isSuited(act, run.status)) found.set(run.runId, run);
      }
      ({ cursor } = page);
    } while (cursor !== undefined);
  }
  return [...found.values()];
}

function statusesOf(act: ManyAct): readonly RunStatus[] {
  return act === 'stop' || act === 'retry' ? SUITED[act] : [];
}

/** A call has no status, and a run that the page does not show any more is the server's to judge. */
function isSuited(act: ManyAct, status: RunStatus | undefined): boolean {
  const statuses = statusesOf(act);
  return status === undefined || statuses.length === 0 || statuses.includes(status);
}

async function perform(
  { id, act, reason }: Confirmed,
  target: Target,
  isOver: () => boolean,
): Promise<{ target: string; code?: string; isAway: boolean }> {
  const named = nameOf(target);
  let isRepeated = false;
  for (;;) {
    try {
      const [path, body] = toRequest(act, target);
      const all = { ...body, ...(reason !== undefined && { reason }) };
      const { result } = await post<{ result?: string }>(path, all, id);
      return {
        target: named,
        isAway: false,
        ...(result === 'nothing' && { code: 'nothing_to_do' }),
      };
    } catch (error) {
      if (!(error instanceof Refusal)) {
        if (isRepeated) return { target: named, code: 'unavailable', isAway: true };
        // Its reply may be lost: the key has it done once.
        isRepeated = true;
        continue;
      }
      const { statusCode, code = 'unavailable' } = error;
      const isAway = statusCode === 401 || statusCode === 429 || statusCode >= 500;
      if (statusCode !== 429 || isOver()) return { target: named, code, isAway };
      await sleep(WAIT_MS);
    }
  }
}

function toRequest(
  act: ManyAct,
  { runId, sessionId = '', toolCallId, approvalId, inputHash }: Target,
): [path: string, body: object] {
  if (toolCallId === undefined) return [runPath(runId, `/${act}`), {}];
  const call = [sessionId, toolCallId].map(encodeURIComponent).join('/');
  return [`/operator/waiting/${call}`, { approved: act === 'approve', approvalId, inputHash }];
}

function nameOf({ runId, toolCallId, approvalId }: Target): string {
  return approvalId ?? (toolCallId === undefined ? runId : `${runId}::${toolCallId}`);
}

function describeTarget({ runId, toolName, agent, owner }: Target): string {
  const whose = [agent, owner].filter((name) => name !== undefined).join(', ');
  const what = toolName === undefined ? runId : `${toWords(toolName)}, ${runId}`;
  return whose === '' ? what : `${what} – ${whose}`;
}

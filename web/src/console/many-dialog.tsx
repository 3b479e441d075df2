import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { randomId } from '../../../protocol/ids.js';
import { actOnEach, findRuns, isNothingToDo, SUITED } from '../../../protocol/operator-clients.js';
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
  /** Singular of the targets. */
  thing: string;
  nothing: string;
  title: string;
  verb: string;
  /** Warning shown before confirmation. */
  caution?: string;
}

const RUNS = {
  thing: 'run',
  nothing: 'There is nothing to do: the runs have other statuses by now.',
};
const CALLS = {
  thing: 'call',
  nothing: 'There is nothing to do: the questions are answered by now.',
};

const WORDS: Record<ManyAct, Words> = {
  stop: { ...RUNS, title: 'Stop these runs?', verb: 'Stop' },
  retry: {
    ...RUNS,
    title: 'Repeat the turns of these runs?',
    verb: 'Repeat',
    caution: 'Their tools may run again, with what they do outside.',
  },
  approve: {
    ...CALLS,
    title: 'Approve these calls?',
    verb: 'Approve',
    caution: 'Each is carried out as it was asked, without changes.',
  },
  deny: {
    ...CALLS,
    title: 'Deny these calls?',
    verb: 'Deny',
    caution: 'The agents read the reason.',
  },
};

const PROBLEM_WORDS: Record<string, string> = {
  not_allowed: 'not yours to decide',
  unavailable: 'the server did not answer',
};

/** Targets and problems shown, each. */
const SHOWN = 20;
/** Waits after refusals that pass: of a rate limit, and while the same request is still carried out. */
const WAIT_MS: Record<string, number> = { too_many_requests: 5_000, idempotency_conflict: 1_000 };

/** A run, or one of its calls, to act on. */
export interface Target {
  runId: string;
  agent?: string | undefined;
  owner?: string | undefined;
  sessionId?: string | undefined;
  status?: RunStatus | undefined;
  toolCallId?: string;
  toolName?: string;
  approvalId?: string;
  /** Hash of the input that the page shows. */
  inputHash?: string;
}

interface Props {
  act: ManyAct;
  of: { filter: Record<string, string> } | { targets: readonly Target[] };
  onClose: () => void;
}

/** Confirms an act on many runs or calls, then sends one request for each and shows progress. */
export function ManyDialog({ act, of, onClose }: Props): ReactElement {
  const [confirmed, setConfirmed] = useState<Confirmed>();
  // The person confirms the targets of the moment when the dialog opened.
  const [asked] = useState(of);
  const plan = useQuery({
    queryKey: ['plan', act, asked],
    queryFn: ({ signal }) =>
      'targets' in asked
        ? asked.targets.filter(({ status }) => isSuited(act, status))
        : findTargets(act, asked.filter, signal),
    refetchOnWindowFocus: false,
    placeholderData: undefined,
    gcTime: 0,
    staleTime: Infinity,
  });
  const targets = plan.data;
  const { thing, nothing, title, verb, caution } = WORDS[act];

  if (confirmed !== undefined) return <ManyProgress confirmed={confirmed} onClose={onClose} />;
  return (
    <ConfirmDialog
      title={title}
      verb={targets === undefined ? verb : `${verb} ${String(targets.length)}`}
      ready={targets !== undefined && targets.length > 0}
      needsReason={act === 'deny'}
      onConfirm={(reason) => {
        setConfirmed({ id: randomId(), act, targets: targets ?? [], reason });
        return Promise.resolve();
      }}
      onClose={onClose}
    >
      {plan.isPending && <p role="status">Counting…</p>}
      <ProblemNote error={plan.error} what="The list" />
      {targets !== undefined && (
        <div data-testid="plan">
          <p>
            {targets.length === 0
              ? nothing
              : `This is about ${String(targets.length)} ${thing}${targets.length === 1 ? '' : 's'}.`}
          </p>
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
  /** Idempotency key of every request. */
  id: string;
  act: ManyAct;
  targets: readonly Target[];
  reason: string | undefined;
}

interface ProgressProps {
  confirmed: Confirmed;
  onClose: () => void;
}

interface Counts {
  done: number;
  skipped: number;
  problems: { target: string; code: string }[];
}

/** Sends the requests while it is shown; requests in flight still finish after that. */
function ManyProgress({ confirmed, onClose }: ProgressProps): ReactElement {
  const { targets } = confirmed;
  const sending = useRef<AbortController>(undefined);
  const queries = useQueryClient();
  const [counts, setCounts] = useState<Counts>({ done: 0, skipped: 0, problems: [] });
  const [isRunning, setRunning] = useState(true);
  const { done, skipped, problems } = counts;
  const tried = done + skipped + problems.length;

  useEffect(() => {
    const controller = new AbortController();
    sending.current = controller;
    const ended = (): boolean => controller.signal.aborted;
    const sums: Counts = { done: 0, skipped: 0, problems: [] };
    const sendAll = async (): Promise<void> => {
      // Waits a tick, so that an effect that is cleaned up at once sends nothing.
      await Promise.resolve();
      const send = (target: Target) => perform(confirmed, target, ended);
      for await (const outcome of actOnEach(confirmed.targets, send, ended)) {
        const { target, code, isAway } = outcome;
        if (code === undefined) sums.done += 1;
        else if (isNothingToDo(code)) sums.skipped += 1;
        else sums.problems.push({ target, code });
        if (isAway) controller.abort();
        setCounts({ ...sums, problems: [...sums.problems] });
      }
      if (sending.current === controller) setRunning(false);
      for (const list of ['runs', 'waiting']) void queries.invalidateQueries({ queryKey: [list] });
    };
    void sendAll();
    return () => controller.abort();
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
          {problems.slice(0, SHOWN).map(({ target, code }) => (
            <li key={target}>
              {target}: {PROBLEM_WORDS[code] ?? code.replaceAll('_', ' ')}
            </li>
          ))}
        </ul>
      )}
      <div className="acts">
        {isRunning && (
          <button type="button" data-testid="end-many" onClick={() => sending.current?.abort()}>
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

async function findTargets(
  act: ManyAct,
  filter: Record<string, string>,
  signal: AbortSignal,
): Promise<Target[]> {
  const readPage = (query: Record<string, string | undefined>) =>
    read<OperatorRuns>('/operator/runs', { query, signal });
  const found = await findRuns(readPage, filter, statusesOf(act));
  return found.filter(({ subAgent }) => subAgent !== true);
}

function statusesOf(act: ManyAct): readonly RunStatus[] {
  return act === 'stop' || act === 'retry' ? SUITED[act] : [];
}

/** A call has no status, and the server judges runs that the page no longer shows. */
function isSuited(act: ManyAct, status: RunStatus | undefined): boolean {
  const statuses = statusesOf(act);
  return status === undefined || statuses.length === 0 || statuses.includes(status);
}

async function perform(
  { id, act, reason }: Confirmed,
  target: Target,
  isOver: () => boolean,
): Promise<{ target: string; code?: string; isAway: boolean }> {
  const named = { target: nameOf(target) };
  let isRepeated = false;
  for (;;) {
    try {
      const [path, body] = toRequest(act, target);
      const { result } = await post<{ result?: string }>(path, { ...body, reason }, id);
      return { ...named, isAway: false, ...(result === 'nothing' && { code: 'nothing_to_do' }) };
    } catch (error) {
      if (!(error instanceof Refusal)) {
        if (isRepeated) return { ...named, code: 'unavailable', isAway: true };
        // The reply may be lost; the key keeps the repetition from acting twice.
        isRepeated = true;
        continue;
      }
      const { statusCode, code = statusCode === 429 ? 'too_many_requests' : 'unavailable' } = error;
      const waitMs = WAIT_MS[code];
      const isAway = statusCode === 401 || statusCode >= 500;
      if (waitMs === undefined || isOver()) return { ...named, code, isAway };
      await sleep(waitMs);
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
